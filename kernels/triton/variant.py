"""How a kernel is compiled: what Triton's own launcher would find out from the arguments of a call, written down."""
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Variant:
    kernel: Any
    # Name -> Triton type, of all arguments that are not constants, in the kernel's order.
    arguments: dict
    constants: dict
    # num_warps, num_stages, waves_per_eu, matrix_instr_nonkdim, ...
    options: dict
    # Integers that are known to be multiples of 16: accesses to rows that far apart can be vectorised. Pointers always
    # are, and what they point to ends within 2 GiB, as the launcher finds for tensors of that size: it lets Triton use
    # buffer instructions.
    multiples_of_16: frozenset = field(default_factory=frozenset)

    def signature(self):
        return {**self.arguments, **{name: "constexpr" for name in self.constants}}

    def attributes(self):
        places = {name: place for place, name in enumerate(self.kernel.arg_names)}
        found = {}
        for name, dtype in self.arguments.items():
            if dtype.startswith("*"):
                found[(places[name],)] = [["tt.divisibility", 16], ["tt.pointer_range", 32]]
            elif name in self.multiples_of_16:
                found[(places[name],)] = [["tt.divisibility", 16]]
        return found
