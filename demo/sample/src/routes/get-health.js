export default {
  method: "GET",
  path: "/health",
  handle: ({ store }) => ({ body: { status: "ok", events: store.size } }),
};
