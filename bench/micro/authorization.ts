import { authorize, type AuthorizationAttributes, type Authorizer } from '../../src/auth/authorizer.js';
import { AuthorizerChain } from '../../src/auth/authorizer-chain.js';
import { alwaysAllow } from '../../src/auth/authorizers/always.authorizer.js';
import { NodeAuthorizer } from '../../src/auth/authorizers/node.authorizer.js';
import { privilegedGroupAuthorizer } from '../../src/auth/authorizers/privileged-group.authorizer.js';
import { RbacAuthorizer } from '../../src/auth/authorizers/rbac.authorizer.js';
import { NodeRelations } from '../../src/auth/node/node-relations.js';
import { HeldRules } from '../../src/auth/rbac/held-rules.js';
import { RoleBook } from '../../src/auth/rbac/role-book.js';
import { RegistryReader } from '../../src/admission/registry-reader.js';
import { encodeStored } from '../../src/codec/stored-object.js';
import { namingProfile } from '../../src/config/naming-profile.js';
import { parseFieldSelector } from '../../src/machinery/field-selector.js';
import type { Revision } from '../../src/machinery/revision.js';
import { rbacVersion } from '../../src/modules/rbac/rbac.resources.js';
import { systemClock } from '../../src/std/clock.js';
import { startOpenKeelson } from '../../src/assembly/start-keelson.js';
import type { ResourceRegistry } from '../../src/registry/resource-registry.js';
import { putEvent } from '../../src/storage/store-event.js';

/**
 * CPU time of one decision with 10,000 RoleBindings, 2,000 Roles, 5,000 users, 5,000 nodes and 150,000 Pods, above that of
 * AlwaysAllow: `node dist/bench/micro/authorization.js`.
 */
const counts = { bindings: 10_000, roles: 2_000, users: 5_000, namespaces: 200, nodes: 5_000, pods: 150_000 };
const rounds = 200_000;

const naming = namingProfile('kubernetes');
const rbac = rbacVersion(naming);
const plurals = ['pods', 'persistentvolumes', 'persistentvolumeclaims'];
let registry: ResourceRegistry;
/** Beyond the revisions of the server, whose feed writes nothing meanwhile. */
let revision = 1_000_000;

function put(group: string, plural: string, namespace: string, name: string, object: object): void {
  const { store, definition } = registry.require(group, 'v1', plural);
  const { kind } = definition;
  const metadata = { name, ...(namespace !== '' && { namespace }) };
  const apiVersion = group === '' ? 'v1' : `${group}/v1`;
  const modRevision = ++revision as Revision;
  const value = encodeStored({ apiVersion, kind, metadata, ...object });
  const key = store.keyOf(namespace, name);
  store.cache.apply(putEvent({ key, value, createRevision: modRevision, modRevision }), 0);
}

const namespaceOf = (index: number) => `ns-${index % counts.namespaces}`;

function fill(): void {
  for (const plural of ['clusterroles', 'roles', 'clusterrolebindings', 'rolebindings']) reset(rbac.group, plural);
  for (const plural of plurals) reset('', plural);
  const rules = [
    { apiGroups: ['apps'], resources: ['deployments', 'replicasets', 'statefulsets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: [''], resources: ['pods', 'pods/log', 'services'], verbs: ['get', 'list', 'watch', 'create'] },
  ];
  for (let i = 0; i < counts.roles; i++) put(rbac.group, 'roles', namespaceOf(i), `role-${i}`, { rules });
  for (let i = 0; i < counts.bindings; i++) {
    // The role of a binding is in its namespace: both counts are multiples of the number of namespaces.
    put(rbac.group, 'rolebindings', namespaceOf(i), `binding-${i}`, {
      roleRef: { kind: 'Role', name: `role-${i % counts.roles}` },
      subjects: [{ kind: 'User', name: `user-${i % counts.users}` }],
    });
  }
  put(rbac.group, 'clusterroles', '', 'view', { rules });
  put(rbac.group, 'clusterrolebindings', '', 'viewers', {
    roleRef: { kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'Group', name: 'viewers' }],
  });
  for (let i = 0; i < counts.pods; i++) {
    const volumes = [
      { name: 'a', secret: { secretName: `secret-${i}` } },
      { name: 'b', configMap: { name: `config-${i}` } },
      { name: 'c', persistentVolumeClaim: { claimName: `claim-${i}` } },
    ];
    const containers = [{ name: 'main', image: 'main' }];
    const spec = { nodeName: `node-${i % counts.nodes}`, containers, volumes, serviceAccountName: 'default' };
    put('', 'pods', namespaceOf(i), `pod-${i}`, { spec });
  }
}

function reset(group: string, plural: string): void {
  registry.require(group, 'v1', plural).store.cache.reset([], ++revision as Revision);
}

type Asked = Partial<AuthorizationAttributes> & { readonly userName: string; readonly groups?: readonly string[] };

function attributes({ userName, groups = ['system:authenticated'], ...more }: Asked): AuthorizationAttributes {
  return {
    user: { name: userName, uid: '', groups, extra: {} },
    isResourceRequest: true,
    ...{ verb: 'get', group: '', version: 'v1', resource: 'pods', subresource: '' },
    ...{ namespace: 'ns-0', name: 'pod-0', path: '' },
    ...more,
  };
}

/** Returns the CPU time of a decision in µs. Each one is about another of the given requests. */
function microsOf(chain: AuthorizerChain, asked: readonly AuthorizationAttributes[], decision: string): number {
  let other = 0;
  const run = (times: number) => {
    for (let i = 0; i < times; i++) {
      const answer = authorize(chain, asked[i % asked.length]!);
      // A search that other programs on the machine interrupt for long is continued later.
      if (!(answer instanceof Promise) && answer.decision !== decision) other++;
    }
  };
  run(Math.max(rounds / 4, asked.length));
  other = 0;
  const before = process.cpuUsage();
  run(rounds);
  const { user, system } = process.cpuUsage(before);
  if (other > 0) throw new Error(`${other} of ${rounds} decisions are not "${decision}"`);
  return (user + system) / rounds;
}

async function main(): Promise<void> {
  const keelson = await startOpenKeelson({ config: { storage: { backend: 'memory' } }, reconciles: false });
  ({ registry } = keelson.components);
  const relations = new NodeRelations(registry, new RegistryReader(registry), naming);
  const rbacAuthorizer = new RbacAuthorizer(new HeldRules(new RoleBook(registry, rbac.group), rbac.group));
  rbacAuthorizer.authorize(attributes({ userName: 'none' }));
  fill();
  const nodeAuthorizer = new NodeAuthorizer({ relations, rules: [], naming, clock: systemClock });
  const chainOf = (...authorizers: Authorizer[]) => new AuthorizerChain([privilegedGroupAuthorizer, ...authorizers]);
  const all = chainOf(nodeAuthorizer, rbacAuthorizer);
  const base = chainOf(alwaysAllow);
  const users = Array.from({ length: counts.users }, (_, i) =>
    attributes({ userName: `user-${i}`, namespace: namespaceOf(i) }),
  );
  const node = (i: number, more: Partial<AuthorizationAttributes>) =>
    attributes({
      ...{ userName: `system:node:node-${i % counts.nodes}`, groups: ['system:nodes', 'system:authenticated'] },
      ...{ namespace: namespaceOf(i), ...more },
    });
  const pods = Array.from({ length: counts.pods }, (_, i) => i);
  const manyGroups = [...Array.from({ length: 50 }, (_, i) => `group-${i}`), 'viewers'];
  const cases: [label: string, asked: AuthorizationAttributes[], decision: string][] = [
    ['RBAC: by a RoleBinding, 5,000 users in turn', users, 'allow'],
    ['RBAC: by a ClusterRoleBinding to the last of 51 groups', [attributes({ userName: 'u', groups: manyGroups })], 'allow'],
    ['RBAC: refused', [attributes({ userName: 'user-0', verb: 'delete' })], 'no opinion'],
    ['Node: Secret of one of 30 Pods, 150,000 in turn', pods.map((i) => node(i, { resource: 'secrets', name: `secret-${i}` })), 'allow'],
    ['Node: ConfigMap of one of 30 Pods, 150,000 in turn', pods.map((i) => node(i, { resource: 'configmaps', name: `config-${i}` })), 'allow'],
    ['Node: Secret of another node, refused', pods.map((i) => node(i, { resource: 'secrets', name: `secret-${i + 1}` })), 'no opinion'],
    ['Node: a Pod', pods.map((i) => node(i, { name: `pod-${i}` })), 'allow'],
    ['Node: list of its Pods', [node(0, { verb: 'list', name: '', fieldSelector: parseFieldSelector('spec.nodeName=node-0') })], 'allow'],
  ]; // prettier-ignore
  const print = (label: string, micros: number) =>
    process.stdout.write(`${label.padEnd(60)}${micros.toFixed(2).padStart(8)} µs\n`);
  const allowed = microsOf(base, users, 'allow');
  print('AlwaysAllow', allowed);
  for (const [label, asked, decision] of cases) print(label, microsOf(all, asked, decision) - allowed);
  await keelson.stop();
}

void main();
