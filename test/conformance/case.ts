import type { ConfigOverrides } from '../../src/config/load-config.js';
import type { NamingProfile } from '../../src/config/naming-profile.js';
import type { Answer, HttpClient, Protocol, WatchEvent } from '../harness/http-client.js';
import type { TestServer } from '../harness/servers.js';
import type { WatchRow } from './watch.cases.js';

/**
 * Language of the tables. A row is: name, requests before, the tested request, the expected answer.
 * Each row has a namespace of its own, so rows are independent. Strings in paths, bodies and wants may contain
 *   ~                         /api/v1/namespaces/<the row's namespace>, at the beginning of a path
 *   {ns}                      the name of that namespace
 *   {domain}                  the domain of labels
 *   {group:coordination}      an API group with the configured domain
 *   {label:metadata.name}     a label or annotation with the configured domain; {api:…} one of the API machinery
 *   {system:system}           a system namespace
 *   {a.metadata.uid}          a field of the answer that was kept as `a`
 */
export type Row = readonly [name: string, given: readonly Step[], when: Step, want: Want];

export interface Table {
  readonly name: string;
  readonly rows: readonly Row[];
  /** Run on every store and naming profile, not only on memory. */
  readonly everywhere?: boolean;
}

export interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string | string[]>;
  readonly keep?: string;
  /** Name of a client of the runner; the administrator by default. */
  readonly as?: string;
}

export interface Want {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string | RegExp;
  /** Fields that the body must contain. */
  readonly body?: object;
  /** Paths that the body must not contain. */
  readonly absent?: readonly string[];
  /** Names of the items of a list, in order. */
  readonly names?: readonly string[];
  readonly headers?: Record<string, unknown>;
  readonly warnings?: readonly unknown[];
  readonly text?: string | RegExp;
  /** Later requests and their expected answers. */
  readonly then?: readonly (readonly [Step, Want])[];
}

type Headers = Record<string, string | string[]>;
const step = (method: string, path: string, body?: unknown, headers?: Headers): Step => ({
  method,
  path,
  ...(body !== undefined && { body }),
  ...(headers && { headers }),
});

export const get = (path: string, headers?: Headers) => step('GET', path, undefined, headers);
export const head = (path: string) => step('HEAD', path);
export const post = (path: string, body: unknown, headers?: Headers) => step('POST', path, body, headers);
export const put = (path: string, body: unknown, headers?: Headers) => step('PUT', path, body, headers);
export const del = (path: string, body?: unknown, headers?: Headers) => step('DELETE', path, body, headers);
export const patch = (path: string, body: unknown, type = 'merge') =>
  step('PATCH', path, body, { 'content-type': type.includes('/') ? type : `application/${type}-patch+json` });
/** Keeps the answer under a name. */
export const keep = (name: string, of: Step): Step => ({ ...of, keep: name });
export const as = (who: string, of: Step): Step => ({ ...of, as: who });

export const ok = (body?: object, more: Partial<Want> = {}): Want => ({ code: 200, ...(body && { body }), ...more });
export const created = (body?: object, more: Partial<Want> = {}): Want => ({
  code: 201,
  ...(body && { body }),
  ...more,
});
export const names = (...items: string[]): Want => ({ code: 200, names: items });
export const refused = (code: number, reason: string, message?: string | RegExp): Want => ({
  code,
  reason,
  ...(message !== undefined && { message }),
});
export const invalid = (field: string): Want => ({
  code: 422,
  reason: 'Invalid',
  body: { details: { causes: expect.arrayContaining([expect.objectContaining({ field })]) } },
});
export const notFound = (message?: string): Want => refused(404, 'NotFound', message);

/** A ConfigMap, as the simplest kind. */
export const configMap = (name: string, more: { data?: object; metadata?: object; [field: string]: unknown } = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...more,
  metadata: { name, ...more.metadata },
});
/** Creates a ConfigMap and keeps it under its name. */
export const aConfigMap = (name: string, more?: Parameters<typeof configMap>[1]): Step =>
  keep(name, post('~/configmaps', configMap(name, more)));

/** A Pod with the fields that admission would set, so that it can be updated with the same spec. */
export const pod = (name: string, more: { metadata?: object; spec?: object } = {}) => ({
  metadata: { name, ...more.metadata },
  spec: {
    serviceAccountName: 'default',
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'example.com/app:1' }],
    ...more.spec,
  },
});
export const aPod = (name: string, more?: Parameters<typeof pod>[1]): Step =>
  keep(name, post('~/pods', pod(name, more)));

/** A server, and its naming profile and clients. */
export interface World {
  readonly server: TestServer;
  readonly naming: NamingProfile;
  readonly clients: Readonly<Record<string, HttpClient>>;
}

/** Shortens the wait of requests with a future resourceVersion. */
export const impatient: ConfigOverrides = { limits: { freshnessWaitMsMax: 250 } };

export function makeWorld(
  server: TestServer,
  protocol: Protocol = 'http/1.1',
  others: Readonly<Record<string, HttpClient>> = {},
): World {
  const admin = server.client({ ...server.keelson.client, protocol });
  return { server, naming: server.keelson.components.config.naming, clients: { admin, ...others } };
}

let namespaces = 0;

/** The namespace of a row and the answers it kept. */
export class Scene {
  readonly kept = new Map<string, unknown>();

  private constructor(
    private readonly world: World,
    readonly namespace: string,
  ) {}

  static async open(world: World): Promise<Scene> {
    const scene = new Scene(world, `t${++namespaces}`);
    const { code, text } = await scene.send(post('/api/v1/namespaces', { metadata: { name: scene.namespace } }));
    if (code !== 201) throw new Error(`no namespace for the row: ${code} ${text}`);
    await scene.send(post('~/serviceaccounts', { metadata: { name: 'default' } }));
    return scene;
  }

  async prepare(given: readonly Step[]): Promise<void> {
    for (const one of given) {
      const { code, text } = await this.send(one);
      if (code >= 400) throw new Error(`${one.method} ${one.path}, before the row's request: ${code} ${text}`);
    }
  }

  async send(given: Step): Promise<Answer> {
    const client = this.world.clients[given.as ?? 'admin']!;
    const path = this.pathOf(given.path);
    const answer = await client.request(given.method, path, {
      ...(given.body !== undefined && { body: this.withPlaceholders(given.body) }),
      ...(given.headers && { headers: this.withPlaceholders(given.headers) }),
    });
    if (given.keep !== undefined) this.kept.set(given.keep, answer.body);
    return answer;
  }

  pathOf(path: string): string {
    const full = path.startsWith('~') ? `/api/v1/namespaces/${this.namespace}${path.slice(1)}` : path;
    return this.withPlaceholders(full);
  }

  /** Replaces the placeholders in all strings of the value. */
  withPlaceholders<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T;
    if (Array.isArray(value)) return value.map((item: unknown) => this.withPlaceholders(item)) as T;
    const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [this.text(key), this.withPlaceholders(inner)]),
    ) as T;
  }

  private text(text: string): string {
    const { naming } = this.world;
    return text.replace(
      /\{([a-z]\w*)(?::([\w.-]+)|((?:\.[\w-]+)*))\}/g,
      (whole, name: string, of?: string, at?: string) => {
        if (name === 'ns') return this.namespace;
        if (name === 'domain') return naming.labelDomain;
        if (of !== undefined) {
          if (name === 'group') return naming.group(of);
          if (name === 'label') return naming.label(of);
          if (name === 'api') return naming.apiLabel(of);
          if (name === 'system') return naming.systemNamespace(of as 'system');
        }
        if (!this.kept.has(name)) return whole;
        return String(valueAt(this.kept.get(name), (at ?? '').slice(1)));
      },
    );
  }

  check(answer: Answer, want: Want): void {
    const shown = { code: answer.code, ...(answer.code !== want.code && { text: answer.text }) };
    expect(shown).toEqual({ code: want.code });
    if (want.reason !== undefined)
      expect(answer.body).toMatchObject({ kind: 'Status', reason: want.reason, code: want.code });
    if (want.message instanceof RegExp) expect(answer.body.message).toMatch(want.message);
    else if (want.message !== undefined) expect(answer.body.message).toBe(this.withPlaceholders(want.message));
    if (want.body) expect(answer.body).toMatchObject(this.withPlaceholders(want.body));
    for (const path of want.absent ?? []) expect([path, valueAt(answer.body, path)]).toEqual([path, undefined]);
    if (want.names)
      expect(answer.body.items.map((item: Named) => item.metadata.name)).toEqual(this.withPlaceholders(want.names));
    if (want.headers) expect(answer.headers).toMatchObject(this.withPlaceholders(want.headers));
    if (want.warnings) expect(answer.warnings).toEqual(want.warnings);
    if (want.text instanceof RegExp) expect(answer.text).toMatch(want.text);
    else if (want.text !== undefined) expect(answer.text).toBe(this.withPlaceholders(want.text));
  }

  async run([, given, when, want]: Row): Promise<void> {
    await this.prepare(given);
    this.check(await this.send(when), want);
    for (const [next, nextWant] of want.then ?? []) this.check(await this.send(next), nextWant);
  }
}

interface Named {
  readonly metadata: { readonly name: string };
}

function valueAt(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path
    .split('.')
    .reduce<unknown>(
      (inner, field) =>
        typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[field] : undefined,
      value,
    );
}

export function runTables(tables: readonly Table[], world: () => World): void {
  describe.each(tables)('$name', ({ rows }) => {
    it.each(rows.map((row) => [row[0], row] as const))('%s', async (_name, row) => {
      const scene = await Scene.open(world());
      await scene.run(row);
    });
  });
}

/** Runs all rows concurrently, since each lasts as long as its timeout. */
export function runWatchRows(rows: readonly WatchRow[], world: () => World): void {
  describe('watch', () => {
    const outcomes = new Map<WatchRow, Promise<{ scene: Scene; events: readonly WatchEvent[] }>>();
    beforeAll(() => {
      for (const row of rows) {
        const outcome = watched(row, world());
        outcome.catch(() => undefined);
        outcomes.set(row, outcome);
      }
    });

    it.each(rows.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
      const { scene, events } = await outcomes.get(row)!;
      const endMark = Object.keys(scene.withPlaceholders({ '{api:initial-events-end}': '' }))[0]!;
      const seen = events.map((event, index) =>
        typeof row.want[index] === 'object' ? event : shownEvent(event, endMark),
      );
      expect(seen).toHaveLength(row.want.length);
      seen.forEach((event, index) => {
        const want = row.want[index];
        if (typeof want === 'object') expect(event).toMatchObject(scene.withPlaceholders(want));
        else expect(event).toBe(want);
      });
    });
  });
}

async function watched(
  row: WatchRow,
  world: World,
  seconds = row.during ? 5 : 1,
): Promise<{ scene: Scene; events: readonly WatchEvent[] }> {
  const scene = await Scene.open(world);
  await scene.prepare(row.given);
  const asked = performance.now();
  const watch = await world.clients['admin']!.watch(
    scene.pathOf(`${row.watch}&timeoutSeconds=${seconds}`),
    scene.withPlaceholders(row.headers ?? {}),
  );
  await scene.prepare(row.during ?? []);
  // The changes must happen while the watch is open, also on a busy machine.
  if (row.during && performance.now() - asked > seconds * 500) {
    watch.close();
    return watched(row, world, seconds * 4);
  }
  const events = await watch.rest();
  expect(await watch.ended).toBe('complete');
  return { scene, events };
}

/** `ADDED name`; for a Table the name is in the row. */
function shownEvent({ type, object }: WatchEvent, endMark: string): string {
  if (type === 'BOOKMARK') return object.metadata.annotations?.[endMark] === 'true' ? 'BOOKMARK end' : 'BOOKMARK';
  return `${type} ${type === 'ERROR' ? object.code : (object.metadata.name ?? object.rows?.[0].object.metadata.name)}`;
}
