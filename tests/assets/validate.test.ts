import { expect, it } from "vitest";
import { validate } from "../../installer/validate.ts";

// Without the client: what it says is its own and may change with its version.
const ALONE = { env: {}, cwd: "/", home: "/" };

it("our own assets, and the repository as a marketplace, pass our own validate", async () => {
  for (const path of ["assets", "."]) {
    const { files, findings } = await validate(path, ALONE);
    expect(files).toBeGreaterThan(4);
    expect(findings).toEqual([]);
  }
});
