// A file of our own, so that it can be loaded late: where a package is CommonJS, a bundle in parts
// gives import() its default export alone.
export { stringify } from "yaml";
