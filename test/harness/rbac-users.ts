import type { Answer, HttpClient } from './http-client.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { startTestServer, type TestServer } from './servers.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

export const rule = (apiGroup: string, resource: string, ...verbs: string[]) => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs,
});

/** A server with RBAC and a second namespace `other`, and its users. */
export async function startRbacServer(config: ConfigOverrides = {}) {
  const server = await startTestServer(
    { store: 'memory', naming: 'kubernetes' },
    { config: { ...config, authorization: { modes: ['RBAC'] } } },
  );
  const users = new RbacUsers(server);
  await users.create('/api/v1/namespaces', { metadata: { name: 'other' } });
  return { server, admin: server.admin, users };
}

/** Creates users of a server with RBAC, each with rules of its own. */
export class RbacUsers {
  private count = 0;

  constructor(private readonly server: TestServer) {}

  /** Name of the last created user. */
  get latest(): string {
    return `u${this.count}`;
  }

  /** A client of a new user who holds the rules in all namespaces. */
  async with(...rules: object[]): Promise<HttpClient> {
    this.count++;
    const name = this.latest;
    await this.create(`${rbac}/clusterroles`, { metadata: { name }, rules });
    await this.create(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name },
      subjects: [{ apiGroup: group, kind: 'User', name }],
    });
    return this.server.client({ ...this.server.keelson.client, headers: { 'impersonate-user': name } });
  }

  /** Creates an object as the administrator. */
  async create(path: string, object: object): Promise<Answer> {
    const answer = await this.server.admin.post(path, object);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
    return answer;
  }
}
