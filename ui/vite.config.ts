/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `headrace up` prints its address; the dev server passes the API on to it. */
const DEV_BACKEND = "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": "/src" } },
  build: {
    outDir: "../src/headrace/server/static",
    emptyOutDir: true,
    target: "es2022",
    chunkSizeWarningLimit: 1200,
  },
  worker: { format: "es" },
  server: { proxy: { "/api": DEV_BACKEND } },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
