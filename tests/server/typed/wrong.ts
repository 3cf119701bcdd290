// Each of these lines is wrong, and found by the types alone.
import createClient from "openapi-fetch";
import type { components, paths } from "./grouperfish.js";

const client = createClient<paths>();
declare const build: components["schemas"]["Builds"];
declare const task: components["schemas"]["Task"];

// @ts-expect-error: a number
export const k: string = build.k;
// @ts-expect-error: no member of a build
export const shape = build.shape;
// @ts-expect-error: no state of a task
export const over = task.state === "over";
// @ts-expect-error: no such path
export const nowhere = client.GET("/v1/nowhere");
// @ts-expect-error: no value of a setting
export const wrong = client.PATCH("/v1/collections/{collection}/configurations/{config}", { params: { path: { collection: "c", config: "d" } }, body: { k: { a: 1 } } });
// @ts-expect-error: one of size, label and id
export const sorted = client.GET("/v1/collections/{collection}/clusters", { params: { path: { collection: "c" }, query: { sort: "colour" } } });
