import { bash } from "../../demo/talk.ts";
import {
  apply,
  type Behaviour,
  begin,
  commit,
  end,
  gates,
  submit,
} from "../../demo/worker-script.ts";

/** Does the task, but waits only two seconds for the slow gate and tries to end while it runs. */
export const impatient: Behaviour = async function* (worker) {
  yield* begin(worker);
  yield* apply(worker, worker.edits.steps);
  yield* commit(worker);
  while ((yield* bash("minion gate slow --wait 2")).code === 75)
    yield* end(worker, "It takes too long.");
  yield* gates();
  yield* submit(worker);
  yield* end(worker, `${worker.attempt} handed in`);
};
