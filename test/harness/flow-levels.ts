import type { FlowSchema, PriorityLevelConfiguration } from '../../src/catalog/types/flowcontrol.v1.js';
import { configMap } from '../conformance/case.js';
import { eventually } from './eventually.js';
import { holdRequest, type HeldRequest } from './held-requests.js';
import type { Answer } from './http-client.js';
import type { TestServer } from './servers.js';

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
const levels = `${group}/prioritylevelconfigurations`;
const schemas = `${group}/flowschemas`;
const dumps = '/debug/api_priority_and_fairness';
const configMaps = '/api/v1/namespaces/default/configmaps';

/** Headers of the administrator that impersonate a user. */
export const impersonating = (user: string, ...groups: string[]) => ({
  'impersonate-user': user,
  'impersonate-group': ['system:authenticated', ...groups],
});

interface LevelOptions {
  readonly matchingPrecedence?: number;
  readonly distinguisher?: 'ByUser' | 'ByNamespace';
}

/** Priority levels of a test server, and their state as clients see it. */
export class FlowLevels {
  /** Names of objects by uid. */
  private names: ReadonlyMap<string, string> = new Map();

  constructor(private readonly server: TestServer) {}

  /** Waits until the objects of a new cluster are in force. */
  async begin(): Promise<void> {
    await eventually('the objects of a new cluster are in force', async () => {
      await this.learnNames();
      return this.flowOf(await this.get('somebody', '/version')) === 'global-default/global-default';
    });
  }

  /** Lets users do everything without being in system:masters. */
  async bindUsers(users: readonly string[]): Promise<void> {
    const { code } = await this.server.admin.post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'flow-control-users' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: users.map((name) => ({ kind: 'User', name })),
    });
    expect(code).toBe(201);
  }

  get = (user: string, path: string, ...groups: string[]): Promise<Answer> =>
    this.server.admin.get(path, impersonating(user, ...groups));

  /** The FlowSchema and the priority level in the headers of an answer. */
  flowOf({ headers }: Pick<Answer, 'headers'>): string {
    const name = (header: string) => this.names.get(String(headers[header])) ?? 'none';
    return `${name('x-kubernetes-pf-flowschema-uid')}/${name('x-kubernetes-pf-prioritylevel-uid')}`;
  }

  /** Cells of a row of dump_priority_levels, by column. */
  async dumpOf(level: string): Promise<Record<string, string>> {
    const [header = [], ...rows] = await this.rowsOf('dump_priority_levels');
    const row = rows.find(([name]) => name === level) ?? [];
    return Object.fromEntries(header.map((column, at) => [column, row[at] ?? '']));
  }

  /** Rows of cells of a page. */
  async rowsOf(page: string): Promise<string[][]> {
    const { text } = await this.server.admin.get(`${dumps}/${page}`);
    return text.split('\n').map((line) => line.split(',').map((cell) => cell.trim()));
  }

  /** The value of the first series of a metric with these labels. */
  async valueOf(metric: string, ...labels: string[]): Promise<number | undefined> {
    const lines = (await this.series(metric)).filter(([name]) => labels.every((label) => name.includes(label)));
    return lines[0]?.[1];
  }

  /** All series of a metric, with their labels. */
  async series(metric: string): Promise<(readonly [name: string, value: number])[]> {
    const { text } = await this.server.admin.get('/metrics');
    const lines = text.split('\n').filter((line) => line.startsWith(`${metric}{`));
    return lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at))];
    });
  }

  /** Creates a level and a FlowSchema for users, and waits until they are in force. */
  async create(
    name: string,
    limited: object,
    users: readonly string[],
    { matchingPrecedence = 1000, distinguisher = 'ByUser' }: LevelOptions = {},
  ): Promise<void> {
    const level = { metadata: { name }, spec: { type: 'Limited', limited } };
    const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true }];
    const rule = {
      subjects: users.map((user) => ({ kind: 'User', user: { name: user } })),
      resourceRules: everything,
      nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
    };
    const spec = {
      matchingPrecedence,
      priorityLevelConfiguration: { name },
      distinguisherMethod: { type: distinguisher },
      rules: [rule],
    };
    const { admin } = this.server;
    expect((await admin.post(levels, level)).code).toBe(201);
    expect((await admin.post(schemas, { metadata: { name }, spec })).code).toBe(201);
    const user = users[0] === '*' ? 'anybody' : users[0]!;
    await eventually(`the level ${name} is in force`, async () => {
      await this.learnNames();
      return this.flowOf(await this.get(user, '/version')) === `${name}/${name}`;
    });
  }

  async remove(name: string): Promise<void> {
    await this.server.admin.delete(`${schemas}/${name}`);
    await this.server.admin.delete(`${levels}/${name}`);
  }

  /** Begins requests of a user until it occupies `count` seats of a level. */
  async holdSeats(level: string, user: string, count: number): Promise<HeldRequest[]> {
    const held = Array.from({ length: count }, (_, at) => this.hold(user, `${level}-${user}-${at}`));
    await eventually(`${count} requests hold seats`, async () => {
      const rows = await this.rowsOf('dump_requests?includeRequestDetails=1');
      const own = rows.filter((row) => row[0] === level && row[3] === '-1' && row[10] === user && row[11] === 'create');
      return own.length === count;
    });
    return held;
  }

  /** Begins the creation of a ConfigMap, without the end of its body. */
  hold(user: string, name: string, query = ''): HeldRequest {
    return holdRequest(this.server, `${configMaps}${query}`, user, configMap(name));
  }

  private async learnNames(): Promise<void> {
    const { admin } = this.server;
    const lists = await Promise.all([admin.get(levels), admin.get(schemas)]);
    const objects: (FlowSchema | PriorityLevelConfiguration)[] = lists.flatMap(({ body }) => body.items);
    this.names = new Map(objects.map(({ metadata }) => [metadata.uid ?? '', metadata.name ?? '']));
  }
}
