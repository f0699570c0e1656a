"""Reads captures (docs/captures.md) and dumped buffers with numpy: floats as float64, integers as int64."""
import json
import pathlib

import numpy as np
import zstandard


def _fp8_e4m3fnuz():
    codes = np.arange(256)
    exponent, mantissa = codes >> 3 & 15, codes & 7
    size = np.where(exponent == 0, mantissa * 2.0**-10, (8 + mantissa) * 2.0**(exponent - 11.0))
    values = np.where(codes & 128, -size, size)
    values[128] = np.nan
    return values


FP8_E4M3FNUZ = _fp8_e4m3fnuz()


def decoded(data, dtype, shape):
    raw = {"f32": np.float32, "f16": np.float16, "bf16": np.uint16, "fp8_e4m3fnuz": np.uint8, "i32": np.int32}[dtype]
    values = np.frombuffer(data, raw)
    if dtype == "bf16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    elif dtype == "fp8_e4m3fnuz":
        values = FP8_E4M3FNUZ[values]
    return values.astype(np.int64 if dtype == "i32" else np.float64).reshape(shape)


def views(folder):
    """Each buffer by name: its contents before the launch."""
    folder = pathlib.Path(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    found = {}
    for view in manifest["views"]:
        region = manifest["regions"][view["region"]]
        data = bytearray(region["size"])
        for piece in region["contents"]:
            if "blob" in piece:
                packed = (folder / "blobs" / f"{piece['blob']}.zst").read_bytes()
                piece_data = zstandard.ZstdDecompressor().decompress(packed, max_output_size=piece["bytes"])
            else:
                piece_data = bytes([piece["value"]]) * piece["bytes"]
            data[piece["offset"]:piece["offset"] + piece["bytes"]] = piece_data
        shape, strides = view["shape"], view["strides"]
        dense = [int(np.prod(shape[i + 1:])) for i in range(len(shape))]
        assert strides in ([], dense), f"{view['name']}: rows that do not follow one another"
        size = {"f32": 4, "i32": 4, "f16": 2, "bf16": 2, "fp8_e4m3fnuz": 1}[view["dtype"]] * int(np.prod(shape))
        start = view["offset"]
        found[view["name"]] = decoded(bytes(data[start:start + size]), view["dtype"], shape), view["dtype"]
    return found
