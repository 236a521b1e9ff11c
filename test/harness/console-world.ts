import { Chromium } from './chromium.js';
import type { HttpClient } from './http-client.js';
import { startTestServer, type TestServer } from './servers.js';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const group = 'rbac.authorization.k8s.io';

/** A server with RBAC and objects of a small shop, and a browser with its console. */
export class ConsoleWorld {
  private constructor(
    readonly server: TestServer,
    readonly browser: Chromium,
    /** A token of the ServiceAccount `anna`, who may do everything. */
    readonly adminToken: string,
    /** A token of the ServiceAccount `reader`, who may read ConfigMaps. */
    readonly readerToken: string,
  ) {}

  static async start(chromiumPath: string): Promise<ConsoleWorld> {
    const server = await startTestServer(
      { store: 'memory', naming: 'kubernetes' },
      {
        config: {
          authorization: { modes: ['RBAC'] },
          faults: { allowed: true },
          // A compacted state is not read from memory.
          limits: { snapshotRetentionMs: 0 },
        },
      },
    );
    const { admin } = server;
    await create(admin, '/api/v1/namespaces', { metadata: { name: 'shop' } });
    await create(admin, `${rbac}/clusterroles`, {
      metadata: { name: 'reader' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
    });
    const adminToken = await account(admin, 'anna', 'cluster-admin');
    const readerToken = await account(admin, 'reader', 'reader');
    await makeShop(admin);
    const rules = [
      { name: 'every tenth', match: { verbs: ['deletecollection'] }, probability: 0.1, fault: { status: 500 } },
    ];
    const planned = await admin.put('/debug/faults', { seed: 7, rules });
    if (planned.code !== 200) throw new Error(planned.text);
    const browser = await Chromium.start(chromiumPath);
    return new ConsoleWorld(server, browser, adminToken, readerToken);
  }

  async stop(): Promise<void> {
    await this.browser.stop();
    await this.server.stop();
  }

  /** Opens the console as a new visitor, and logs in with a token. */
  async logIn(token: string): Promise<void> {
    const { browser } = this;
    await browser.open('about:blank');
    await browser.open(`${this.server.url}/console/`);
    await browser.until("document.activeElement?.id === 'token'");
    await browser.type(token);
    await browser.click('button', 'Log in');
    await browser.until("document.querySelector('.shell')");
  }

  /** Goes to the view of an address: `#/access`. */
  async go(hash: string): Promise<void> {
    await this.browser.evaluate(`void (location.hash = ${JSON.stringify(hash)})`);
  }
}

async function create(admin: HttpClient, path: string, object: object) {
  const { code, body } = await admin.post(path, object);
  if (code !== 201) throw new Error(`${path}: ${code} ${body?.message}`);
  return body;
}

async function account(admin: HttpClient, name: string, role: string): Promise<string> {
  const accounts = '/api/v1/namespaces/shop/serviceaccounts';
  await create(admin, accounts, { metadata: { name } });
  await create(admin, `${rbac}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'shop' }],
  });
  return (await create(admin, `${accounts}/${name}/token`, { spec: {} })).status.token as string;
}

/** Creates a Deployment with a ReplicaSet and Pods below it, and a ConfigMap. */
async function makeShop(admin: HttpClient): Promise<void> {
  const labels = { app: 'web' };
  const template = {
    metadata: { labels },
    spec: { containers: [{ name: 'app', image: 'registry.example.com/web:1.4' }] },
  };
  const owned = (kind: string, name: string, owner: { name: string; uid: string }) => ({
    name,
    labels,
    ownerReferences: [{ apiVersion: 'apps/v1', kind, name: owner.name, uid: owner.uid, controller: true }],
  });
  const apps = '/apis/apps/v1/namespaces/shop';
  const spec = { replicas: 2, selector: { matchLabels: labels }, template };
  const deployment = await create(admin, `${apps}/deployments`, { metadata: { name: 'web', labels }, spec });
  const set = await create(admin, `${apps}/replicasets`, {
    metadata: owned('Deployment', 'web-7c9f', deployment.metadata),
    spec,
  });
  for (const name of ['web-7c9f-a', 'web-7c9f-b']) {
    const metadata = owned('ReplicaSet', name, set.metadata);
    await create(admin, '/api/v1/namespaces/shop/pods', { metadata, spec: template.spec });
  }
  const data = { colour: 'blue', size: '7' };
  await create(admin, '/api/v1/namespaces/shop/configmaps', { metadata: { name: 'settings' }, data });
}
