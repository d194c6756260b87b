import { defineConfig } from "vite";

/** An entry, a module for each page, their stylesheet, and that of Swagger and the admin, under names that never change:
 * Django's templates name them, and a rebuild of the same source is byte-identical, which the committed-bundle check
 * relies on. */
export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    manifest: "tandem/modules.json",
    modulePreload: false,
    reportCompressedSize: true,
    rollupOptions: {
      input: { app: "src/main.tsx", dress: "src/styles/dress.css" },
      output: {
        entryFileNames: "tandem/[name].js",
        assetFileNames: "tandem/[name][extname]",
        chunkFileNames: "tandem/[name].js",
        // What pages share comes as two files, cached from page to page, not as twenty of a few hundred bytes.
        codeSplitting: {
          groups: [
            { name: "charts", test: /\/(src\/(charts|timeline|plan)|uplot)\//, minShareCount: 2 },
            { name: "shared", minShareCount: 2 },
          ],
        },
      },
    },
  },
});
