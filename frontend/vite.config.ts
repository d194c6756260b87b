import { defineConfig } from "vite";

/** One module and one stylesheet under names that never change: Django's templates name them, and a rebuild of the same
 * source is byte-identical, which the committed-bundle check relies on. */
export default defineConfig({
  base: "./",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: true,
    rollupOptions: {
      input: "src/main.tsx",
      output: {
        entryFileNames: "tandem/app.js",
        assetFileNames: ({ names }) => (names[0]?.endsWith(".css") ? "tandem/app.css" : "tandem/[name][extname]"),
        chunkFileNames: "tandem/[name].js",
      },
    },
  },
});
