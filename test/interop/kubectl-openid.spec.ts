import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeOutcome, findKubectls, howToGetKubectl, KubectlRunner } from '../../scripts/kubectl/kubectl.js';
import { packageRoot } from '../../src/config/config-files.js';
import { startKeelson, type Keelson } from '../../src/testing.js';
import { OidcIssuer } from '../harness/oidc-issuer.js';

const kubectls = findKubectls(packageRoot);

if (kubectls.length === 0) {
  describe.skip(`kubectl (${howToGetKubectl})`, () => it('is not installed', () => undefined));
} else {
  let issuer: OidcIssuer;
  let keelson: Keelson;
  let directory: string;
  beforeAll(async () => {
    issuer = await OidcIssuer.start();
    directory = await mkdtemp(join(tmpdir(), 'kubectl-openid-'));
    const configFile = join(directory, 'authentication.json');
    await writeFile(
      configFile,
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'AuthenticationConfiguration',
        jwt: [
          {
            issuer: issuer.settings,
            claimMappings: {
              username: { claim: 'sub', prefix: 'oidc:' },
              groups: { expression: 'claims.roles' },
              extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
            },
          },
        ],
      }),
    );
    keelson = await startKeelson({ config: { authentication: { configFile } } });
  });
  afterAll(async () => {
    await keelson.stop();
    await issuer.close();
    await rm(directory, { recursive: true });
  });

  it.each(kubectls)('kubectl $version auth whoami shows the user of a token', async (kubectl) => {
    const file = join(directory, `kubeconfig-${kubectl.version}`);
    const token = issuer.token({ roles: ['dev', 'ops'], tenant: 'acme' });
    // The kubeconfig of the administrator with the token in place of the client certificate.
    const text = keelson.kubeconfig.replace(/ {4}client-certificate-data[^]*$/, `    token: ${token}\n`);
    await writeFile(file, text, { mode: 0o600 });
    const runner = await KubectlRunner.open(kubectl, file);
    try {
      const step = {
        name: 'whoami',
        args: ['auth', 'whoami'],
        stdout: /oidc:ali[^]*dev[^]*ops[^]*system:authenticated[^]*example.com\/tenant[^]*acme/,
      };
      // The keys of the issuer are fetched in the background.
      let outcome = await runner.run(step);
      for (let attempts = 0; outcome.problem !== undefined && attempts < 30; attempts++)
        outcome = await runner.run(step);
      expect(outcome.problem && describeOutcome(outcome)).toBeUndefined();
    } finally {
      await runner.close();
    }
  });
}
