// Compiled with the types that openapi-typescript made of /openapi.json, and run against a server: argv[2].
import createClient from "openapi-fetch";
import type { components, paths } from "./grouperfish.js";

declare const process: { argv: string[] };
const url = process.argv[2]!;
const client = createClient<paths>({ baseUrl: url });
const path = { collection: "feedback" };

function got<T>(answer: { data?: T; error?: components["schemas"]["Problem"] }): T {
    if (answer.data === undefined) throw new Error(answer.error?.detail ?? "no answer");
    return answer.data;
}

const lines = [];
for (let i = 0; i < 60; i++) lines.push(JSON.stringify({ id: `d${i}`, text: `word${i % 5} thing${i % 3}` }));
const put = got(await client.POST("/v1/collections/{collection}/documents", {
    params: { path },
    body: lines.join("\n"),
    bodySerializer: (body) => body,
    headers: { "Content-Type": "application/x-ndjson" },
}));
if (Array.isArray(put)) throw new Error("rows of each record were not asked for");
const stored: number = put.stored;

got(await client.PATCH("/v1/collections/{collection}/configurations/{config}", {
    params: { path: { ...path, config: "default" } },
    body: { k: 3, ngrams: "1-2", stem: false },
}));

const asked = got(await client.POST("/v1/collections/{collection}/builds", { params: { path }, body: { threads: 1 } }));
if (Array.isArray(asked)) throw new Error("a rebuild is a task");
let task: components["schemas"]["Task"] = asked;
while (task.state === "queued" || task.state === "running") {
    await new Promise((later) => setTimeout(later, 20));
    task = got(await client.GET("/v1/tasks/{task}", { params: { path: { task: task.task } } }));
}

const clusters = got(await client.GET("/v1/collections/{collection}/clusters", {
    params: { path, query: { sort: "size" } },
}));
const sizes: number[] = clusters.map((cluster) => cluster.size ?? 0);
const labels: string[] = clusters.map((cluster) => cluster.label ?? "");
const heaviest: number = Math.max(...clusters.flatMap((cluster) => (cluster.terms ?? []).map((t) => t.weight)));

const builds: components["schemas"]["Builds"][] = got(
    await client.GET("/v1/collections/{collection}/builds", { params: { path } }));
const shown = got(await client.GET("/v1/collections/{collection}", { params: { path } }));
if (Array.isArray(shown)) throw new Error("columns were not asked for");

const missing = await client.GET("/v1/collections/{collection}", { params: { path: { collection: "none" } } });
const problem: string = missing.error?.detail ?? "";
const status: number = missing.response.status;

console.log(JSON.stringify({ stored, state: task.state, sizes, labels, heaviest, size: shown.size,
                             settings: builds[0]?.settings, pinned: builds[0]?.pinned, problem, status }));
