import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpClient } from '../harness/http-client.js';
import { ServerProcess } from '../harness/server-process.js';

/** The built command is a bundle: dynamic imports of the sources must work from it. */
describe('the built command', () => {
  let directory: string;
  let server: ServerProcess;
  let client: HttpClient;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'keelson-command-'));
    server = await ServerProcess.start(directory, ['--storage-backend=embedded']);
    const { url, ca, client: identity } = server.access;
    client = new HttpClient({ url, ca, ...identity });
  });

  afterAll(async () => {
    client.close();
    await server.kill();
    await rm(directory, { recursive: true, force: true });
  });

  const yaml = 'kind: ConfigMap\nmetadata:\n  name: from-yaml\ndata:\n  on: "1"\n';
  const configMaps = '/api/v1/namespaces/default/configmaps';

  it.each([
    ['metrics', () => client.get('/metrics'), 200, /^process_resident_memory_bytes \d+/m],
    ['readiness', () => client.get('/readyz?verbose'), 200, /^\[\+\]etcd ok$/m],
    ['YAML bodies', () => client.post(configMaps, yaml, { 'content-type': 'application/yaml' }), 201, /"from-yaml"/],
    ['YAML answers', () => client.get(configMaps, { accept: 'application/yaml' }), 200, /^kind: ConfigMapList$/m],
    ['OpenAPI', () => client.get('/openapi/v3'), 200, /"paths"/],
    // The first byte of gzip.
    ['profiles', () => client.get('/debug/pprof/heap?seconds=1'), 200, /^\x1f/],
    ['discovery', () => client.get('/api'), 200, /"APIVersions"/],
  ])('serves %s', async (_name, ask, code, text) => {
    const answer = await ask();
    expect(answer.code).toBe(code);
    expect(answer.text).toMatch(text);
  });
});
