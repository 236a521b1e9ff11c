import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { CertificateSigningRequest } from '../../src/catalog/types/certificates.v1.js';
import { eventually } from '../harness/eventually.js';
import { allowBootstrap, JoiningAgent, nodePaths, nodeServerConfig } from '../harness/joining-agents.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { until, untilGone } from '../harness/until.js';

const { nodes, requests, secrets } = nodePaths;
const noRuntime = '--container-runtime-endpoint=none';
const fast = [noRuntime, '--node-status-update-frequency=100ms', '--node-lease-duration-seconds=1'];

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config: nodeServerConfig });
  await allowBootstrap(server.admin, 'abc123', false);
});
afterAll(() => server.stop());

const agents: JoiningAgent[] = [];
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.remove();
  for (const request of await listed()) await server.admin.request('DELETE', `${requests}/${request.metadata.name}`);
});

function agentOf(name: string, token = 'abc123.0123456789abcdef'): JoiningAgent {
  const agent = new JoiningAgent(name);
  agents.push(agent);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, token);
  return agent;
}

async function listed(): Promise<CertificateSigningRequest[]> {
  return (await server.admin.get(requests)).body.items as CertificateSigningRequest[];
}

/** Waits for the requests of a signer that are neither approved nor denied, and returns their names. */
async function pending(signer: string): Promise<string[]> {
  let names: string[] = [];
  await eventually(`a request for ${signer}`, async () => {
    const open = (await listed()).filter(
      ({ spec, status }) => spec?.signerName === signer && (status?.conditions ?? []).length === 0,
    );
    names = open.map(({ metadata }) => metadata.name!);
    return names.length > 0;
  });
  return names;
}

async function decide(name: string, type: 'Approved' | 'Denied'): Promise<void> {
  const { body: request } = await server.admin.get(`${requests}/${name}`);
  const condition = { type, status: 'True', reason: 'ByHand', message: 'by a test' };
  const { code } = await server.admin.put(`${requests}/${name}/approval`, {
    ...request,
    status: { ...request.status, conditions: [condition] },
  });
  expect(code).toBe(200);
}

const clientSigner = 'kubernetes.io/kube-apiserver-client-kubelet';
const servingSigner = 'kubernetes.io/kubelet-serving';

it('a denied request is logged, and its deletion lets the agent ask again', async () => {
  const agent = agentOf('denied');
  const started = agent.start([agent.bootstrapFlag, ...fast]);
  const [name] = await pending(clientSigner);
  await decide(name!, 'Denied');
  const { level, fields } = await agent.logged('the CertificateSigningRequest was refused; delete it');
  expect([level, fields]).toEqual(['error', { name, condition: 'Denied', reason: 'ByHand', message: 'by a test' }]);
  // A new start waits for the same request, and the agent that still waits ends.
  const waiting = started.catch((error: unknown) => error);
  await agent.stop();
  expect(await waiting).toMatchObject({ message: 'the agent stops' });
  expect(await listed()).toHaveLength(1);
  await server.admin.request('DELETE', `${requests}/${name}`);
  await untilGone(server.admin, requests, name!);
  const again = agent.start([agent.bootstrapFlag, ...fast]);
  // The key is that of the first request, and so is the name.
  expect(await pending(clientSigner)).toEqual([name]);
  await decide(name!, 'Approved');
  await again;
  await until(server.admin, nodes, 'denied', (node) => node !== undefined);
});

it('a refused bootstrap token is logged without the token, and a new one in the file is used', async () => {
  const agent = agentOf('revoked', 'zzz999.ffffffffffffffff');
  const started = agent.start([agent.bootstrapFlag, ...fast]);
  const { fields } = await agent.logged('the client certificate could not be requested');
  expect(fields['advice']).toMatch(/^the bootstrap token or certificate is not valid any more/);
  agent.writeBootstrap({ url: server.url, ca: server.keelson.ca }, 'abc123.0123456789abcdef');
  await decide((await pending(clientSigner))[0]!, 'Approved');
  await started;
  expect(JSON.stringify(agent.lines)).not.toMatch(/ffffffffffffffff|0123456789abcdef/);
});

it('a bootstrap token without rights is logged with the role that it needs', async () => {
  const id = 'noright';
  await server.admin.post(secrets, {
    metadata: { name: 'bootstrap-token-nrt123' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: { 'token-id': 'nrt123', 'token-secret': '0123456789abcdef', 'usage-bootstrap-authentication': 'true' },
  });
  const agent = agentOf(id, 'nrt123.0123456789abcdef');
  const started = agent.start([agent.bootstrapFlag, ...fast]).catch((error: unknown) => error);
  const { fields } = await agent.logged('the client certificate could not be requested');
  expect(fields['advice']).toMatch(/^bind the ClusterRole system:node-bootstrapper/);
  await agent.stop();
  await started;
});

/** Returns the certificate that a server presents. */
async function presented(url: string): Promise<X509Certificate> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate()!;
  socket.destroy();
  return certificate;
}

it('a requested serving certificate is used after its approval, with the names of the Node', async () => {
  const agent = agentOf('serving');
  const started = agent.start([agent.bootstrapFlag, '--rotate-server-certificates', ...fast]);
  await decide((await pending(clientSigner))[0]!, 'Approved');
  await started;
  const own = await presented(agent.url!);
  expect(own.subject).toBe('CN=keelson');
  await decide((await pending(servingSigner))[0]!, 'Approved');
  const authority = new X509Certificate(server.keelson.ca);
  let certificate = own;
  await eventually('the issued certificate is presented', async () => {
    certificate = await presented(agent.url!);
    return certificate.verify(authority.publicKey);
  });
  expect([certificate.subject, certificate.subjectAltName]).toEqual([
    'O=system:nodes\nCN=system:node:serving',
    'DNS:serving, IP Address:127.0.0.1',
  ]);
});
