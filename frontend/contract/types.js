/** Writes the TypeScript types of REST and events, from the schema that `manage.py spectacular` wrote. */

import { readFileSync, writeFileSync } from "node:fs";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";

const [SCHEMA, TYPES] = [new URL("../openapi.json", import.meta.url), new URL("../src/api/schema.ts", import.meta.url)];

const OPTIONS = {
  immutable: true,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
  enumValues: true,
  defaultNonNullable: false,
  inject: 'import type { Json } from "../base/paths.ts";\n',
  // The schema of any JSON allows everything; as a type that would be `unknown`, which is assignable to nothing.
  transform: (_, { path }) =>
    path === "#/components/schemas/JsonValue" ? ts.factory.createTypeReferenceNode("Json") : undefined,
};

const nodes = await openapiTS(JSON.parse(readFileSync(SCHEMA, "utf8")), OPTIONS);
writeFileSync(
  TYPES,
  `/**\n * This file was generated from openapi.json by contract/types.js: \`make contract\`.\n */\n\n${astToString(nodes)}`,
);
