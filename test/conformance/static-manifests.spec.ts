import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger, type Logger } from '../../src/std/logger.js';
import { AdmissionWebhooks, configMapRule, patched, registration } from '../harness/admission-webhook.js';
import { startTestServer, type TestServer } from '../harness/servers.js';

const gate = 'ManifestBasedAdmissionControlConfig';
const policyRule = { apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['configmaps'] };
const configMaps = '/api/v1/namespaces/default/configmaps';

let root: string;
let webhooks: AdmissionWebhooks;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'keelson-manifests-'));
  webhooks = await AdmissionWebhooks.start();
});
afterAll(async () => {
  await webhooks.stop();
  rmSync(root, { recursive: true, force: true });
});

type Plugin =
  'MutatingAdmissionPolicy' | 'MutatingAdmissionWebhook' | 'ValidatingAdmissionPolicy' | 'ValidatingAdmissionWebhook';

const configurationKind = (plugin: Plugin) =>
  plugin.endsWith('Webhook') ? 'WebhookAdmissionConfiguration' : `${plugin}Configuration`;

/** The directories of a server, in a directory of their own. */
class Directories {
  private static count = 0;
  readonly file: string;
  private readonly directory = join(root, String(Directories.count++));

  constructor(plugins: readonly Plugin[]) {
    for (const plugin of plugins) mkdirSync(this.of(plugin), { recursive: true });
    const configured = plugins.map((name) => ({
      name,
      configuration: {
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: configurationKind(name),
        staticManifestsDir: this.of(name),
      },
    }));
    this.file = join(this.directory, 'admission.yaml');
    const configuration = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' };
    writeFileSync(this.file, JSON.stringify({ ...configuration, plugins: configured }));
  }

  of(plugin: Plugin): string {
    return join(this.directory, plugin);
  }

  write(plugin: Plugin, name: string, ...documents: readonly (object | string)[]): void {
    const texts = documents.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    writeFileSync(join(this.of(plugin), name), texts.join('\n---\n'));
  }

  remove(plugin: Plugin, name: string): void {
    rmSync(join(this.of(plugin), name));
  }

  start(logger: Logger = silentLogger, gates: Record<string, boolean> = { [gate]: true }): Promise<TestServer> {
    const config = { admission: { controlConfigFile: this.file }, featureGates: gates };
    return startTestServer({ store: 'memory', naming: 'kubernetes' }, { config, logger });
  }
}

const apiVersion = 'admissionregistration.k8s.io/v1';

function webhookManifest(kind: 'Mutating' | 'Validating', name: string, fields: object = {}) {
  const webhook = {
    name: `hook.${name}.test`,
    clientConfig: webhooks.clientConfig(`/${name}`),
    rules: [configMapRule],
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...fields,
  };
  return { apiVersion, kind: `${kind}WebhookConfiguration`, metadata: { name }, webhooks: [webhook] };
}

const policyManifest = (name: string, expression: string, resources = ['configmaps'], fields: object = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name },
  spec: {
    matchConstraints: { resourceRules: [{ ...policyRule, apiGroups: ['*'], resources }] },
    validations: [{ expression }],
    ...fields,
  },
});
const bindingManifest = (name: string, policyName = name, fields: object = {}) => ({
  apiVersion,
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name },
  spec: { policyName, validationActions: ['Deny'], ...fields },
});

describe('with manifests of all plug-ins', () => {
  const directories: { current?: Directories } = {};
  const logged: { message: string; failure?: unknown }[] = [];
  let server: TestServer;
  let written = 0;
  const created = (fields: object = {}, query = '') =>
    server.admin.post(`${configMaps}${query}`, { metadata: { name: `o${written++}` }, ...fields });
  const reload = async () => {
    const { manifests } = server.keelson.components;
    // A change is used when two checks have found the same files.
    await manifests.refresh();
    await manifests.refresh();
  };

  beforeAll(async () => {
    const all = new Directories([
      'MutatingAdmissionPolicy',
      'MutatingAdmissionWebhook',
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionWebhook',
    ]);
    directories.current = all;
    const name = 'start.static.k8s.io';
    all.write('ValidatingAdmissionWebhook', 'a.yaml', webhookManifest('Validating', 'checked.static.k8s.io'));
    all.write('MutatingAdmissionWebhook', 'a.json', {
      apiVersion: 'v1',
      kind: 'List',
      items: [webhookManifest('Mutating', 'marked.static.k8s.io')],
    });
    all.write(
      'ValidatingAdmissionPolicy',
      'a.yml',
      '# comments only',
      policyManifest(name, "!has(object.data) || !('refused' in object.data)"),
      bindingManifest(name),
    );
    all.write(
      'MutatingAdmissionPolicy',
      'a.yaml',
      {
        apiVersion,
        kind: 'MutatingAdmissionPolicyList',
        items: [
          {
            metadata: { name },
            spec: {
              matchConstraints: { resourceRules: [{ ...policyRule, operations: ['CREATE'] }] },
              reinvocationPolicy: 'Never',
              mutations: [
                {
                  patchType: 'ApplyConfiguration',
                  applyConfiguration: { expression: 'Object{data: {"policy": "yes"}}' },
                },
              ],
            },
          },
        ],
      },
      { apiVersion, kind: 'MutatingAdmissionPolicyBinding', metadata: { name }, spec: { policyName: name } },
    );
    webhooks.on('/marked.static.k8s.io', () =>
      patched([{ op: 'add', path: '/metadata/labels', value: { webhook: 'yes' } }]),
    );
    const log = (message: string, fields: Record<string, unknown> = {}) =>
      void logged.push({ message, failure: fields['failure'] });
    server = await all.start({ ...silentLogger, info: log, error: log });
  });
  afterAll(() => server?.stop());

  it('they are in force from the first write on, and are no objects', async () => {
    const first = await created();
    expect(first.body).toMatchObject({ metadata: { labels: { webhook: 'yes' } }, data: { policy: 'yes' } });
    expect(webhooks.reviews('/checked.static.k8s.io').length).toBeGreaterThan(0);
    const refused = await created({ data: { refused: '' } });
    expect([refused.code, refused.body.message]).toEqual([
      422,
      expect.stringContaining("ValidatingAdmissionPolicy 'start.static.k8s.io' with binding") as string,
    ]);
    const kinds = ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations', 'validatingadmissionpolicies'];
    for (const plural of kinds) expect((await server.admin.get(`${registration}/${plural}`)).body.items).toEqual([]);
  });

  it('an object with a name of manifests is refused (422)', async () => {
    const name = 'mine.static.k8s.io';
    const binding = { ...bindingManifest(name), kind: 'MutatingAdmissionPolicyBinding', spec: { policyName: name } };
    const objects = {
      validatingwebhookconfigurations: webhookManifest('Validating', name),
      mutatingwebhookconfigurations: webhookManifest('Mutating', name),
      validatingadmissionpolicies: policyManifest(name, 'true'),
      validatingadmissionpolicybindings: bindingManifest(name),
      mutatingadmissionpolicybindings: binding,
    };
    for (const [plural, object] of Object.entries(objects)) {
      const { code, body } = await server.admin.post(`${registration}/${plural}`, object);
      expect([plural, code, body.details.causes]).toEqual([
        plural,
        422,
        [
          {
            reason: 'FieldValueInvalid',
            field: 'metadata.name',
            message:
              'Invalid value: "mine.static.k8s.io": names ending with ".static.k8s.io" are reserved for static manifest-based configurations and cannot be managed via the API',
          },
        ],
      ]);
    }
  });

  it('changed, added and removed files are in force after a reload, which is counted', async () => {
    const all = directories.current!;
    const plugin = 'ValidatingAdmissionPolicy';
    const series = async () => {
      const { text } = await server.admin.get('/metrics');
      const lines = text.split('\n').filter((line) => line.includes(`plugin="${plugin}"`));
      const count = lines.find((line) => /automatic_reloads_total.*status="success"/.test(line))?.split(' ')[1];
      const hash = lines.map((line) => /last_config_info\{.*,hash="([^"]*)"/.exec(line)?.[1]).find(Boolean);
      return { count, hash };
    };
    const before = await series();
    expect(before.count).toBe('1');
    const added = 'added.static.k8s.io';
    all.write(plugin, 'b.yaml', policyManifest(added, "object.metadata.name != 'added'"), bindingManifest(added));
    await reload();
    const refused = () => server.admin.post(`${configMaps}?dryRun=All`, { metadata: { name: 'added' } });
    expect((await refused()).code).toBe(422);
    const after = await series();
    expect(after.count).toBe('2');
    expect(after.hash).not.toBe(before.hash);
    all.write(plugin, 'b.yaml', policyManifest(added, 'true'), bindingManifest(added));
    await reload();
    expect((await refused()).code).toBe(201);
    all.remove(plugin, 'b.yaml');
    await reload();
    expect(await series()).toEqual({ count: '4', hash: before.hash });
    expect((await created({ data: { refused: '' } })).code).toBe(422);
  });

  it('stored configurations work beside manifests, after them', async () => {
    const name = 'stored';
    const rule = { ...configMapRule, operations: ['CREATE'] };
    const stored = webhookManifest('Mutating', name, {
      name: 'a.b.test',
      rules: [rule],
      objectSelector: { matchLabels: { webhook: 'yes' } },
    });
    webhooks.on(`/${name}`, () => patched([{ op: 'add', path: '/metadata/labels/stored', value: 'too' }]));
    expect((await server.admin.post(`${registration}/mutatingwebhookconfigurations`, stored)).code).toBe(201);
    expect((await created()).body.metadata.labels).toEqual({ webhook: 'yes', stored: 'too' });
    await server.admin.delete(`${registration}/mutatingwebhookconfigurations/${name}`);
  });

  it('policies and webhooks of manifests see writes of policies and of webhook configurations', async () => {
    const all = directories.current!;
    const name = 'guarded.static.k8s.io';
    const guarded = ['validatingadmissionpolicies', 'validatingwebhookconfigurations'];
    const rules = [
      { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['mutatingwebhookconfigurations'] },
    ];
    all.write(
      'ValidatingAdmissionPolicy',
      'guard.yaml',
      policyManifest(name, "object.metadata.name == 'allowed'", guarded),
      bindingManifest(name),
    );
    all.write('ValidatingAdmissionWebhook', 'guard.yaml', webhookManifest('Validating', name, { rules }));
    webhooks.on(`/${name}`, () => ({ allowed: false, status: { message: 'guarded' } }));
    await reload();
    const policies = `${registration}/validatingadmissionpolicies`;
    expect((await server.admin.post(policies, policyManifest('mine', 'true'))).code).toBe(422);
    expect((await server.admin.post(policies, policyManifest('allowed', 'true'))).code).toBe(201);
    const hooks = `${registration}/mutatingwebhookconfigurations`;
    const refused = await server.admin.post(hooks, { metadata: { name: 'mine' } });
    expect([refused.code, refused.body.message]).toEqual([400, expect.stringContaining('guarded') as string]);
    all.remove('ValidatingAdmissionPolicy', 'guard.yaml');
    all.remove('ValidatingAdmissionWebhook', 'guard.yaml');
    await reload();
    expect((await server.admin.delete(`${policies}/allowed`)).code).toBe(200);
  });

  const fine = 'x.static.k8s.io';
  const withWebhook = (fields: object) => webhookManifest('Validating', fine, fields);
  it.each<[string, Plugin, () => readonly (object | string)[], string]>([
    [
      'a name without the suffix',
      'ValidatingAdmissionWebhook',
      () => [webhookManifest('Validating', 'plain.name')],
      'ValidatingWebhookConfiguration "plain.name": the name must end with ".static.k8s.io"',
    ],
    [
      'a name twice',
      'ValidatingAdmissionWebhook',
      () => [withWebhook({}), withWebhook({})],
      'ValidatingWebhookConfiguration "x.static.k8s.io" is also in',
    ],
    [
      'a Service',
      'ValidatingAdmissionWebhook',
      () => [withWebhook({ clientConfig: { service: { namespace: 'default', name: 'hook' } } })],
      'webhook "hook.x.static.k8s.io.test": clientConfig.service is not supported in manifests; use clientConfig.url',
    ],
    [
      'no URL',
      'ValidatingAdmissionWebhook',
      () => [withWebhook({ clientConfig: {} })],
      'webhooks[0].clientConfig: Required value: exactly one of url or service is required',
    ],
    [
      'an invalid field',
      'ValidatingAdmissionWebhook',
      () => [withWebhook({ sideEffects: 'Some' })],
      'webhooks[0].sideEffects: Unsupported value: "Some"',
    ],
    [
      'an unknown field',
      'ValidatingAdmissionWebhook',
      () => [withWebhook({ failPolicy: 'Ignore' })],
      'unknown field "webhooks[0].failPolicy"',
    ],
    [
      'a field of the prototype',
      'ValidatingAdmissionWebhook',
      () => [`{"apiVersion": "${apiVersion}", "kind": "ValidatingWebhookConfiguration", "__proto__": {"a": 1}}`],
      'the key "__proto__" is not allowed',
    ],
    [
      'a field twice',
      'ValidatingAdmissionWebhook',
      () => [`apiVersion: ${apiVersion}\nkind: ValidatingWebhookConfiguration\nkind: ValidatingWebhookConfiguration`],
      'key "kind" already set in map',
    ],
    [
      'the other kind of webhooks',
      'ValidatingAdmissionWebhook',
      () => [webhookManifest('Mutating', fine)],
      'kind MutatingWebhookConfiguration is not supported; this directory may have ValidatingWebhookConfiguration',
    ],
    ['no kind', 'MutatingAdmissionWebhook', () => ['[]'], 'this directory may have MutatingWebhookConfiguration'],
    ['no YAML', 'MutatingAdmissionWebhook', () => ['a: ['], 'bad.yaml: '],
    ['a separator with text', 'MutatingAdmissionWebhook', () => ['--- a'], 'invalid YAML document separator: a'],
    [
      'params of a policy',
      'ValidatingAdmissionPolicy',
      () => [policyManifest(fine, 'true', ['pods'], { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } })],
      'ValidatingAdmissionPolicy "x.static.k8s.io": spec.paramKind is not supported in manifests',
    ],
    [
      'params of a binding',
      'ValidatingAdmissionPolicy',
      () => [
        policyManifest(fine, 'true'),
        bindingManifest(fine, fine, { paramRef: { name: 'x', parameterNotFoundAction: 'Deny' } }),
      ],
      'ValidatingAdmissionPolicyBinding "x.static.k8s.io": spec.paramRef is not supported in manifests',
    ],
    [
      'a binding of a stored policy',
      'ValidatingAdmissionPolicy',
      () => [bindingManifest(fine, 'stored')],
      'spec.policyName "stored" must end with ".static.k8s.io"',
    ],
    [
      'a binding without its policy',
      'ValidatingAdmissionPolicy',
      () => [bindingManifest(fine, 'none.static.k8s.io')],
      'no manifest has the policy "none.static.k8s.io"',
    ],
    [
      'an expression that does not compile',
      'ValidatingAdmissionPolicy',
      () => [policyManifest(fine, 'object.'), bindingManifest(fine)],
      'spec.validations[0].expression: Invalid value',
    ],
  ])('a changed file with %s is logged and leaves the last manifests in force', async (_what, plugin, bad, want) => {
    const all = directories.current!;
    all.write(plugin, 'bad.yaml', ...bad());
    logged.length = 0;
    await reload();
    expect(logged).toEqual([{ message: expect.stringMatching(plugin), failure: expect.stringContaining(want) }]);
    expect((await created({ data: { refused: '' } })).code).toBe(422);
    expect((await created()).body.metadata.labels).toEqual({ webhook: 'yes' });
    all.remove(plugin, 'bad.yaml');
    await reload();
  });

  it('failed reloads are counted', async () => {
    const { text } = await server.admin.get('/metrics');
    expect(text).toMatch(
      /_reloads_total\{status="failure",plugin="ValidatingAdmissionPolicy",apiserver_id_hash="sha256:/,
    );
  });
});

it('a broken manifest fails the start, and names the flag and the file', async () => {
  const directories = new Directories(['MutatingAdmissionWebhook']);
  directories.write('MutatingAdmissionWebhook', 'a.yaml', webhookManifest('Mutating', 'my.name'));
  await expect(directories.start()).rejects.toThrow(
    /^--admission-control-config-file: .*admission\.yaml: cannot use .*a\.yaml: .*the name must end with/,
  );
});

it('a directory fails the start without the feature gate, in which names of manifests are allowed', async () => {
  const directories = new Directories(['ValidatingAdmissionPolicy']);
  await expect(directories.start(silentLogger, {})).rejects.toThrow(`requires the feature gate ${gate}`);
  const server = await startTestServer({ store: 'memory', naming: 'kubernetes' });
  try {
    const name = 'mine.static.k8s.io';
    const stored = await server.admin.post(
      `${registration}/validatingadmissionpolicies`,
      policyManifest(name, 'true', ['pods']),
    );
    expect([stored.code, stored.warnings]).toEqual([
      201,
      [expect.stringContaining('names ending with ".static.k8s.io" are reserved') as string],
    ]);
  } finally {
    await server.stop();
  }
});
