import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { packageRoot } from '../../src/config/config-files.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { registration } from './admission-webhook.js';
import { customResourceDefinition, definitions } from './custom-definitions.js';
import { eventually } from './eventually.js';
import type { Answer, HttpClient } from './http-client.js';
import { until } from './until.js';

type PolicyKind = 'validating' | 'mutating';

interface Policy extends KubeObject {
  readonly spec: object;
}

const bindingsOf = (kind: PolicyKind) => `${registration}/${kind}admissionpolicybindings`;
const policiesOf = (kind: PolicyKind) => `${registration}/${kind}admissionpolicies`;
const paths: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: policiesOf('validating'),
  ValidatingAdmissionPolicyBinding: bindingsOf('validating'),
  MutatingAdmissionPolicy: policiesOf('mutating'),
  MutatingAdmissionPolicyBinding: bindingsOf('mutating'),
  ConfigMap: '/api/v1/namespaces/params/configmaps',
  ReplicaLimit: '/apis/rules.example.com/v1/namespaces/{namespace}/replicalimits',
  IssuerList: '/apis/rules.example.com/v1/issuerlists',
  Sidecar: '/apis/mutations.example.com/v1/namespaces/{namespace}/sidecars',
  ControlConfiguration: '/apis/kubescape.io/v1/controlconfigurations',
};

const texts = { type: 'array', items: { type: 'string' } };
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const object = (properties: object) => ({ type: 'object', properties });
/** Group, plural, kind, scope and schema of the custom kinds that the policies select or have as params. */
const customKinds = [
  ['rules.example.com', 'replicalimits', 'ReplicaLimit', 'Namespaced', object({ maxReplicas: { type: 'integer' } })],
  ['rules.example.com', 'issuerlists', 'IssuerList', 'Cluster', object({ issuers: texts })],
  ['mutations.example.com', 'sidecars', 'Sidecar', 'Namespaced', object({ image: { type: 'string' } })],
  [
    'kubescape.io',
    'controlconfigurations',
    'ControlConfiguration',
    'Cluster',
    object({
      settings: object({
        insecureCapabilities: texts,
        imageRepositoryAllowList: texts,
        recommendedLabels: texts,
        memoryLimitMax: { type: 'string' },
      }),
    }),
  ],
  ['networking.istio.io', 'envoyfilters', 'EnvoyFilter', 'Namespaced', object({ spec: anything })],
  ['telemetry.istio.io', 'telemetries', 'Telemetry', 'Namespaced', object({ spec: anything })],
  [
    'cert-manager.io',
    'certificates',
    'Certificate',
    'Namespaced',
    object({ spec: object({ dnsNames: texts, issuerRef: object({ name: { type: 'string' } }) }) }),
  ],
] as const;

/** The policies of test/fixtures/policies, in force on a server. */
export class PublishedPolicies {
  private constructor(
    private readonly admin: HttpClient,
    private readonly policies: readonly Policy[],
  ) {}

  /**
   * Creates the policies of all files with their params and bindings. A policy without a binding gets one for the
   * namespace of its name. Namespaces have the label `policy` with their name, and other labels as given.
   */
  static async install(admin: HttpClient, labels: Readonly<Record<string, object>>): Promise<PublishedPolicies> {
    const documents = ['kubernetes', 'pod-security', 'networking'].flatMap(
      (name) => loadAll(readFileSync(join(packageRoot, 'test/fixtures/policies', `${name}.yaml`), 'utf8')) as Policy[],
    );
    const policies = documents.filter(({ kind }) => kind.endsWith('Policy'));
    const installed = new PublishedPolicies(admin, policies);
    await installed.defineKinds();
    for (const name of ['params', ...policies.map(({ metadata }) => metadata.name!)]) {
      await installed.create('/api/v1/namespaces', { metadata: { name, labels: { policy: name, ...labels[name] } } });
    }
    for (const document of documents) {
      const path = paths[document.kind]!.replace('{namespace}', document.metadata.namespace ?? '');
      await installed.create(path, document);
    }
    const bound = new Set(
      documents.filter(({ kind }) => kind.endsWith('Binding')).map(({ metadata }) => metadata.name),
    );
    for (const { kind, metadata } of policies)
      if (!bound.has(metadata.name)) await installed.bind(kind, metadata.name!);
    for (const kind of ['validating', 'mutating'] as const) await installed.sentinel(kind);
    for (const { metadata } of policies) {
      const accounts = `/api/v1/namespaces/${metadata.name}/serviceaccounts`;
      await until(admin, accounts, 'default', (account) => account !== undefined);
    }
    return installed;
  }

  get names(): readonly string[] {
    return this.policies.map(({ metadata }) => metadata.name!);
  }

  /** Returns the fields that expressions of a ValidatingAdmissionPolicy name wrongly, as its status reports. */
  async typeWarnings(name: string): Promise<readonly string[]> {
    type Status = { readonly observedGeneration?: number; readonly typeChecking?: TypeChecking };
    type TypeChecking = { readonly expressionWarnings?: readonly { fieldRef: string; warning: string }[] };
    const statusOf = (policy: KubeObject | undefined) => (policy as { status?: Status } | undefined)?.status;
    const checked = (policy: KubeObject | undefined) => statusOf(policy)?.observedGeneration === 1;
    const policy = await until(this.admin, policiesOf('validating'), name, checked);
    const warnings = statusOf(policy)?.typeChecking?.expressionWarnings ?? [];
    return warnings.map(({ fieldRef, warning }) => `${fieldRef}: ${warning}`);
  }

  private async bind(kind: string, name: string): Promise<void> {
    const isValidating = kind === 'ValidatingAdmissionPolicy';
    await this.create(bindingsOf(isValidating ? 'validating' : 'mutating'), {
      metadata: { name },
      spec: {
        policyName: name,
        ...(isValidating && { validationActions: ['Deny'] }),
        matchResources: { namespaceSelector: { matchLabels: { policy: name } } },
      },
    });
  }

  private async defineKinds(): Promise<void> {
    for (const [group, plural, kind, scope, schema] of customKinds) {
      const definition = customResourceDefinition({ group, plural, kind, schema });
      await this.create(definitions, { ...definition, spec: { ...definition.spec, scope } });
    }
    for (const [group, plural] of customKinds) {
      const path = `/apis/${group}/v1/${plural}`;
      await eventually(`${plural} are served`, async () => (await this.admin.get(path)).code === 200);
    }
  }

  /** Waits until a policy that was created after all others is in force: caches apply changes in order. */
  private async sentinel(kind: PolicyKind): Promise<void> {
    const name = `sentinel-${kind}`;
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] };
    const matchConstraints = { resourceRules: [rule], objectSelector: { matchLabels: { sentinel: kind } } };
    const jsonPatch = { expression: "[JSONPatch{op: 'add', path: '/immutable', value: true}]" };
    const spec =
      kind === 'validating'
        ? { validations: [{ expression: 'false' }] }
        : { reinvocationPolicy: 'Never', mutations: [{ patchType: 'JSONPatch', jsonPatch }] };
    await this.create(policiesOf(kind), { metadata: { name }, spec: { matchConstraints, ...spec } });
    const validationActions = kind === 'validating' ? { validationActions: ['Deny'] } : {};
    await this.create(bindingsOf(kind), { metadata: { name }, spec: { policyName: name, ...validationActions } });
    const secret = { metadata: { name: 's', labels: { sentinel: kind } } };
    const isInForce = ({ code, body }: Answer) => (kind === 'validating' ? code === 422 : body.immutable === true);
    await eventually(`${kind} policies are in force`, async () =>
      isInForce(await this.admin.post('/api/v1/namespaces/default/secrets?dryRun=All', secret)),
    );
  }

  private async create(path: string, value: object): Promise<void> {
    const answer = await this.admin.post(path, value);
    expect([answer.code, answer.body.message]).toEqual([201, undefined]);
  }
}
