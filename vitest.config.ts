import { defineConfig } from "vitest/config";

const isLong = process.env["TURNLOG_TEST_LONG"] !== undefined;

/** Property tests run with these seeds unless TURNLOG_TEST_LONG asks for random ones. */
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/property-runs.ts"],
    testTimeout: isLong ? 3_600_000 : 60_000,
    hookTimeout: 60_000,
    fileParallelism: true,
    maxWorkers: 2,
  },
});
