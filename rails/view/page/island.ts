import type { FileDiff } from "./diff.ts";

// What the page hands to its own script, as data.

/** All that it knows of the tasks, in the order of the page. */
export type Island = Readonly<{
  key: string; // Names the run among all that this browser ever shows
  isFollowed: boolean;
  writtenAt: number;
  tasks: readonly Readonly<{
    anchor: string; // The id of its element
    mark: string; // Names what there is of it
    state: string;
    risk: string;
    files: readonly string[];
  }>[];
}>;

/** The patches of one diff, in the order of its files. */
export type Patches = readonly FileDiff["patch"][];
