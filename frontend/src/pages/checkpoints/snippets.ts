/** Commands and code to copy that download a version and load it elsewhere, with nothing but curl and diffusers. */

import { type Adapter, type RunSpec, twoExpertFamilyValues } from "../../api/schema.ts";

const AUTHORISED = `-H "Authorization: Bearer $TANDEM_TOKEN"`;

/** Downloads all files as one stream, unpacked while it arrives. */
export function archiveCommand(origin: string, adapter: Adapter): string {
  return `curl --fail --location ${AUTHORISED} \\\n  "${origin}${adapter.archive_url}" | tar --extract`;
}

/** Downloads file by file: a broken download resumes where it stopped, and all files are checked at the end. */
export function filesCommand(origin: string, adapter: Adapter): string {
  const widest = Math.max(...adapter.files.map((file) => file.path.length));
  return [
    `mkdir -p "${adapter.folder}" && cd "${adapter.folder}"`,
    "# path, bytes, address",
    `fetch() { [ "$(cat "$1" 2>/dev/null | wc -c)" -eq "$2" ] || curl --fail --create-dirs --continue-at - ${AUTHORISED} --output "$1" "$3"; }`,
    ...adapter.files.map((file) => `fetch ${file.path.padEnd(widest)} ${file.num_bytes} "${origin}${file.url}"`),
    "sha256sum --check <<END",
    ...adapter.files.map((file) => `${file.sha256}  ${file.path}`),
    "END",
  ].join("\n");
}

type BaseModelOf = Pick<RunSpec, "base_model">;

/** Python that loads a version with plain diffusers; whole weights replace the base model's own before the rest of it is read. */
export function loadCode({ base_model }: BaseModelOf, adapter: Adapter): string {
  const base = base_model.path;
  const isBf16 = base_model.dtype === "bf16";
  const dtype = isBf16 ? ", torch_dtype=torch.bfloat16" : "";
  const imports = isBf16 ? "import torch\n" : "";
  if (adapter.tuning === "lora") return imports + loraCode(base_model, adapter, dtype);
  const parts = componentsOf(adapter);
  return [
    `${imports}from diffusers import AutoModel, DiffusionPipeline\n`,
    ...parts.map((part) => `${part} = AutoModel.from_pretrained("${adapter.folder}", subfolder="${part}"${dtype})`),
    `pipeline = DiffusionPipeline.from_pretrained("${base}", ${parts.map((part) => `${part}=${part}`).join(", ")}${dtype})`,
  ].join("\n");
}

/** The parts of the pipeline that a version holds whole: its topmost folders. */
export function componentsOf(adapter: Adapter): string[] {
  const folders = adapter.files.flatMap(({ path }) => (path.includes("/") ? path.split("/").slice(0, 1) : []));
  return [...new Set(folders)];
}

function loraCode(base: RunSpec["base_model"], adapter: Adapter, dtype: string): string {
  const file = adapter.files[0]?.path ?? "";
  const lines = [
    "from diffusers import DiffusionPipeline\n",
    `pipeline = DiffusionPipeline.from_pretrained("${base.path}"${dtype})`,
    `pipeline.load_lora_weights("${adapter.folder}", weight_name="${file}")`,
  ];
  if (twoExpertFamilyValues.some((family) => family === base.family)) {
    lines.push(
      "if pipeline.transformer_2 is not None:  # diffusers binds one expert a call",
      `    pipeline.transformer_2.load_lora_adapter("${adapter.folder}", weight_name="${file}", prefix="transformer_2")`,
    );
  }
  return lines.join("\n");
}
