import { readFileSync } from 'node:fs';
import type { HttpClient } from '../harness/http-client.js';
import { startRbacServer } from '../harness/rbac-users.js';

// The table of subresources and virtual resources in docs/authorization.md, compared with what the server serves.

interface Route {
  readonly group: string;
  /** `pods/status` */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly path: string;
  readonly verbs: readonly string[];
}

let running: Awaited<ReturnType<typeof startRbacServer>>;
let stranger: HttpClient;
let routes: Route[];
beforeAll(async () => {
  running = await startRbacServer({ runtimeConfig: { 'api/all': true } });
  stranger = await running.users.with();
  routes = await servedRoutes(running.admin);
});
afterAll(() => running.server.stop());

interface ServedResource {
  readonly name: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** Reads all subresources and virtual resources, which are those that can only be created, from discovery. */
async function servedRoutes(admin: HttpClient): Promise<Route[]> {
  const { body } = await admin.get('/apis');
  const groups = (body.groups as { versions: { groupVersion: string }[] }[]).flatMap(({ versions }) => versions);
  const found: Route[] = [];
  for (const groupVersion of ['v1', ...groups.map((version) => version.groupVersion)]) {
    const prefix = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
    const group = groupVersion === 'v1' ? '' : groupVersion.split('/')[0]!;
    const { body: list } = await admin.get(prefix);
    for (const { name, namespaced, verbs } of list.resources as ServedResource[]) {
      const isVirtual = verbs.length === 1 && verbs[0] === 'create';
      const [plural = '', subresource] = name.split('/');
      if (!isVirtual && subresource === undefined) continue;
      const scope = namespaced ? '/namespaces/default' : '';
      const path = `${prefix}${scope}/${plural}${subresource === undefined ? '' : `/x/${subresource}`}`;
      found.push({ group, resource: name, namespaced, path, verbs });
    }
  }
  return found;
}

const methods: Readonly<Record<string, string>> = {
  get: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
};

it('every subresource and virtual resource asks for its own permission', async () => {
  const wrong: string[] = [];
  // All users may review themselves.
  for (const { group, resource, namespaced, path, verbs } of routes.filter((one) => !one.resource.startsWith('self'))) {
    for (const verb of verbs) {
      const headers = { 'content-type': verb === 'patch' ? 'application/merge-patch+json' : 'application/json' };
      const { code, body } = await stranger.request(
        methods[verb]!,
        path,
        verb === 'get' ? {} : { headers, body: '{}' },
      );
      // A namespace is in itself.
      const namespace = namespaced ? 'default' : resource.startsWith('namespaces/') ? 'x' : undefined;
      const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
      const asked = `cannot ${verb} resource "${resource}" in API group "${group}" ${scope}`;
      if (code !== 403 || !String(body.message).includes(asked)) wrong.push(`${verb} ${path}: ${code} ${body.message}`);
    }
  }
  expect(wrong).toEqual([]);
});

it('docs/authorization.md lists each of them', () => {
  const rows = new Map<string, Set<string>>();
  for (const { group, resource, verbs } of routes) {
    const key = `${group || 'core'} | ${resource}`;
    rows.set(key, new Set([...(rows.get(key) ?? []), ...verbs]));
  }
  const served = [...rows].map(([key, verbs]) => `| ${key} | ${[...verbs].sort().join(', ')} |`).sort();
  const documented = readFileSync('docs/authorization.md', 'utf8')
    .split('\n')
    .filter((line) => /^\| \S+ \| [a-z]+(\/[a-z]+)? \| [a-z]+(, [a-z]+)* \|$/.test(line));
  expect(documented).toEqual(served);
});
