import { findPlace } from "../git/repository.ts";
import { EXIT, Fault } from "../program/fault.ts";
import type { Verb } from "../program/verb.ts";
import { overlaysAt } from "./layers.ts";

export const verb: Verb = {
  usage: "guide [topics...]",
  about: "print guides for whoever leads a run; without a topic, list them",
  async run({ words }, world) {
    const guides = await overlaysAt(await findPlace(world.cwd), "guides");
    if (words.length === 0) {
      const all = [...guides.values()].map(({ name, when }) => ({ name, when }));
      return { text: null, data: { guides: all } };
    }
    const asked = words.map((guide) => {
      const known = guides.get(guide.toLowerCase());
      const fault = known ? known.fault : `there is no guide «${guide}»`;
      if (!known || fault)
        throw new Fault(
          "no-guide",
          fault ?? "",
          `there are ${[...guides.keys()].join(", ")}`,
          EXIT.usage,
        );
      return { guide, body: known.body };
    });
    return { text: asked.map(({ body }) => body).join("\n\n"), data: { guides: asked } };
  },
};
