#!/usr/bin/env python3
"""Compiles the Triton kernels of this folder for gfx942; no GPU is needed.

    build.py OUT_DIR [--kernel NAME]...

writes OUT_DIR/<name>.gfx942.co with its launch file <name>.toml, OUT_DIR/<name>.json (what Triton's launcher would need:
LDS and waves), and Triton's own cache of it all in OUT_DIR/cache. LDS is not in the object: Triton gives it with each launch, and so do the launch
files. One that gives another size than the kernel was compiled for is an error.
"""
import argparse
import importlib
import json
import os
import pathlib
import shutil
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
TARGET = ("hip", "gfx942", 64)
NAMES = sorted(file.stem for file in HERE.glob("*.toml"))


def compiled(name):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    variant = importlib.import_module(name).VARIANT
    source = ASTSource(fn=variant.kernel, signature=variant.signature(), constexprs=variant.constants,
                       attrs=variant.attributes())
    return triton.compile(source, target=GPUTarget(*TARGET), options={"enable_fp_fusion": True, **variant.options})


def check_launch_file(name, metadata):
    """What is wrong with the kernel's launch file, or None."""
    with open(HERE / f"{name}.toml", "rb") as file:
        step = tomllib.load(file)["step"][0]
    waves = metadata.num_warps * TARGET[2]
    if step["workgroup"] != [waves]:
        return f"{name}.toml: workgroup is {step['workgroup']}, compiled for [{waves}]"
    if step["dynamic_lds"] != metadata.shared:
        return f"{name}.toml: dynamic_lds is {step['dynamic_lds']}, compiled for {metadata.shared}"
    if metadata.global_scratch_size != 0 or metadata.profile_scratch_size != 0:
        return f"{name}: uses Triton's scratch memory, which the launch file does not give"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path, metavar="OUT_DIR")
    parser.add_argument("--kernel", action="append", choices=NAMES, help="only this one; may be given again")
    options = parser.parse_args()

    # Line numbers would put the place of the sources into the objects.
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"
    os.environ["TRITON_CACHE_DIR"] = str((options.out / "cache").resolve())
    sys.dont_write_bytecode = True
    try:
        import triton
    except ImportError as error:
        sys.exit(f"build.py: {error}; tools/triton_env.sh makes an environment that has it")

    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.kernel or NAMES:
        kernel = compiled(name)
        wrong = check_launch_file(name, kernel.metadata)
        if wrong:
            sys.exit(f"build.py: {wrong}")
        (options.out / f"{name}.gfx942.co").write_bytes(kernel.asm["hsaco"])
        facts = {"kernel": kernel.metadata.name, "num_warps": kernel.metadata.num_warps,
                 "shared": kernel.metadata.shared, "triton": triton.__version__}
        shutil.copyfile(HERE / f"{name}.toml", options.out / f"{name}.toml")
        (options.out / f"{name}.json").write_text(json.dumps(facts, indent=2) + "\n")
        print(f"{name}: {len(kernel.asm['hsaco'])} bytes, {facts['num_warps']} waves, {facts['shared']} bytes of LDS")


if __name__ == "__main__":
    main()
