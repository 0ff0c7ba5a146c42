"""A small Llama with random weights and a vocabulary of bytes, as a GGUF file that llama.cpp's programs read."""

from __future__ import annotations

import pathlib
import sys

import numpy

WIDTH, HEADS, KEY_HEADS, FEED_FORWARD, LAYERS, CONTEXT = 256, 8, 4, 512, 2, 512
SHARE = 0.6  # of a token's own row in what the layers make of it
SPECIAL = ["<unk>", "<s>", "</s>"]
TYPES = {"<unk>": 2, "<s>": 3, "</s>": 3}  # unknown, control
BYTE = 6


def write(path: pathlib.Path, package: pathlib.Path, width: int = WIDTH, layers: int = LAYERS,
          feed_forward: int = FEED_FORWARD) -> None:  # fmt: skip
    """In half precision, by llama.cpp's own Python package, which lies in the folder `package`.

    What a token is followed by is decided in part by an order of all tokens that the last matrix has, so that rounding, which
    is the back ends' own, seldom decides between two, and in part by the layers: other types of weights give other texts.
    """
    sys.path.insert(0, str(package))
    import gguf  # type: ignore[import-not-found]

    random = numpy.random.default_rng(11)
    tokens = SPECIAL + [f"<0x{byte:02X}>" for byte in range(256)]
    head = width // HEADS
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(feed_forward)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(head)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(1)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types([TYPES.get(token, BYTE) for token in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)

    def matrix(rows: int, columns: int, gain: float) -> numpy.ndarray:
        return (random.standard_normal((rows, columns)) * gain / numpy.sqrt(columns)).astype(numpy.float16)

    def add(name: str, array: numpy.ndarray) -> None:
        writer.add_tensor(f"{name}.weight", array)

    ones = numpy.ones(width, numpy.float32)
    embedding = random.standard_normal((len(tokens), width)).astype(numpy.float16)
    add("token_embd", embedding * numpy.float16(SHARE))
    for layer in range(layers):
        block = f"blk.{layer}"
        add(f"{block}.attn_norm", ones)
        add(f"{block}.attn_q", matrix(width, width, 2.0))
        add(f"{block}.attn_k", matrix(head * KEY_HEADS, width, 2.0))
        add(f"{block}.attn_v", matrix(head * KEY_HEADS, width, 1.0))
        add(f"{block}.attn_output", matrix(width, width, 1.0))
        add(f"{block}.ffn_norm", ones)
        add(f"{block}.ffn_gate", matrix(feed_forward, width, 1.0))
        add(f"{block}.ffn_up", matrix(feed_forward, width, 1.0))
        add(f"{block}.ffn_down", matrix(width, feed_forward, 2.0))
    add("output_norm", ones)
    # Never a special token, which would end the text.
    following = numpy.concatenate([numpy.arange(len(SPECIAL)), len(SPECIAL) + random.permutation(256)])
    output = numpy.zeros_like(embedding)
    output[following] = embedding / numpy.sqrt(width)
    output[: len(SPECIAL)] = 0
    add("output", output)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), *map(int, sys.argv[3:]))
