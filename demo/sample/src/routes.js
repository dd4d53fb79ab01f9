import { readdir } from "node:fs/promises";

const folder = new URL("./routes/", import.meta.url);

/** All endpoints: one for each file in `routes/`, so that a new one changes no other file. */
export async function loadRoutes() {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".js")).sort();
  return Promise.all(names.map(async (name) => (await import(new URL(name, folder))).default));
}
