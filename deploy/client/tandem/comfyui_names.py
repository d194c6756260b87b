r"""Which name ComfyUI's LoRA loader knows a layer of diffusers' transformer by, for each model family.

Read from ComfyUI's source at 17358c8f (`model_lora_keys_unet` in `comfy/lora.py`, and in `comfy/utils.py` what it
calls): the loader knows

    flux, flux2           transformer.<diffusers' name>, for the layers that `flux_to_diffusers` lists
    sd3                   transformer.<diffusers' name>, for those of `mmdit_to_diffusers`
    z_image               transformer.<diffusers' name>, for those of `z_image_to_diffusers` (there as Lumina 2)
    qwen_image            transformer.<its own name>, which is diffusers' name
    every family          diffusion_model.<its own name>

where query, key and value that ComfyUI has in one layer are parts of that layer, with diffusers' shapes. Own names are
needed for what the lists lack: all of Wan, and of FLUX.2 what its blocks share. `_OWN_NAMES` leads to them as
diffusers' `_convert_non_diffusers_wan_lora_to_diffusers`, and its reader of FLUX.2's checkpoints, lead back.
"""

import re

_JOINT_ATTENTION = r"attn\.(to_[qkv]|add_[qkv]_proj|to_out\.0|to_add_out)"
_FEED_FORWARD = r"net\.(0\.proj|2)"
_FLUX_ENDS = r"x_embedder|context_embedder|proj_out|norm_out\.linear"
_FLUX2 = rf"""
    transformer_blocks\.\d+\.({_JOINT_ATTENTION}|ff(_context)?\.linear_(in|out))
    |single_transformer_blocks\.\d+\.attn\.(to_qkv_mlp_proj|to_out)
    |{_FLUX_ENDS}
"""
_SAME_NAMES = {
    "flux": rf"""
        transformer_blocks\.\d+\.({_JOINT_ATTENTION}|ff(_context)?\.{_FEED_FORWARD}|norm1(_context)?\.linear)
        |single_transformer_blocks\.\d+\.(attn\.to_[qkv]|proj_mlp|proj_out|norm\.linear)
        |time_text_embed\.(timestep|text|guidance)_embedder\.linear_[12]
        |{_FLUX_ENDS}
    """,
    "flux2": _FLUX2,
    "flux2_klein": _FLUX2,
    "sd3": rf"""
        transformer_blocks\.\d+\.(
            {_JOINT_ATTENTION}|attn2\.(to_[qkv]|to_out\.0)|ff(_context)?\.{_FEED_FORWARD}|norm1(_context)?\.linear
        )
        |time_text_embed\.(timestep|text)_embedder\.linear_[12]
        |context_embedder|proj_out|norm_out\.linear
    """,
    "qwen_image": rf"""
        transformer_blocks\.\d+\.({_JOINT_ATTENTION}|(img|txt)_mod\.1|(img|txt)_mlp\.{_FEED_FORWARD})
        |time_text_embed\.timestep_embedder\.linear_[12]
        |img_in|txt_in|proj_out|norm_out\.linear
    """,
    "z_image": r"""
        (layers|context_refiner|noise_refiner)\.\d+\.(attention\.(to_[qkv]|to_out\.0)|feed_forward\.w[123])
        |(layers|noise_refiner)\.\d+\.adaLN_modulation\.0
        |all_x_embedder\.2-1|all_final_layer\.2-1\.(linear|adaLN_modulation\.1)
        |t_embedder\.mlp\.[02]|cap_embedder\.1
    """,
}
"""Patterns of the layers that are known by diffusers' name."""
_FLUX2_OWN = (
    (r"(double_stream_modulation_(?:img|txt)|single_stream_modulation)\.linear", r"\1.lin"),
    (r"time_guidance_embed\.timestep_embedder\.linear_1", "time_in.in_layer"),
    (r"time_guidance_embed\.timestep_embedder\.linear_2", "time_in.out_layer"),
    (r"time_guidance_embed\.guidance_embedder\.linear_1", "guidance_in.in_layer"),
    (r"time_guidance_embed\.guidance_embedder\.linear_2", "guidance_in.out_layer"),
)
_WAN_OWN = (
    (r"(blocks\.\d+)\.attn1\.to_([qkv])", r"\1.self_attn.\2"),
    (r"(blocks\.\d+)\.attn1\.to_out\.0", r"\1.self_attn.o"),
    (r"(blocks\.\d+)\.attn2\.to_([qkv])", r"\1.cross_attn.\2"),
    (r"(blocks\.\d+)\.attn2\.to_out\.0", r"\1.cross_attn.o"),
    (r"(blocks\.\d+)\.ffn\.net\.0\.proj", r"\1.ffn.0"),
    (r"(blocks\.\d+)\.ffn\.net\.2", r"\1.ffn.2"),
)
_OWN_NAMES = {"flux2": _FLUX2_OWN, "flux2_klein": _FLUX2_OWN, "wan": _WAN_OWN, "wan22": _WAN_OWN}
"""Patterns of the layers that are known by ComfyUI's own name, and that name."""
FAMILIES = frozenset(_SAME_NAMES) | frozenset(_OWN_NAMES)
"""Whose LoRAs can be written for ComfyUI."""


def comfyui_name(layer: str, family: str) -> str | None:
    """The name by which ComfyUI's loader knows a layer of diffusers' transformer; None if it does not."""
    if re.fullmatch(_SAME_NAMES.get(family, r"(?!)"), layer, re.VERBOSE):
        return f"transformer.{layer}"
    for pattern, name in _OWN_NAMES.get(family, ()):
        if found := re.fullmatch(pattern, layer):
            return f"diffusion_model.{found.expand(name)}"
    return None
