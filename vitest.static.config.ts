import { defineConfig } from "vitest/config";

/** Tests of the source text alone: no database, for `npm run check`. */
export default defineConfig({
  test: { include: ["test/architecture.test.ts"] },
});
