import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { defaultConfig, startServer } from 'keelson';
import { WidgetsModule } from '../widgets-module/widgets.module.js';
import { delegatedAccess } from './delegated-access.js';

const { values } = parseArgs({
  options: {
    kubeconfig: { type: 'string', default: 'admin.kubeconfig' },
    'data-dir': { type: 'string', default: '.shop' },
    'bind-address': { type: 'string', default: '0.0.0.0' },
    'secure-port': { type: 'string', default: '7443' },
    'tls-cert-file': { type: 'string' },
    'tls-private-key-file': { type: 'string' },
  },
});

const directory = values['data-dir'];
const config = defaultConfig({
  ...(await delegatedAccess(values.kubeconfig, join(directory, 'main'))),
  storage: { backend: 'embedded', dataDirectory: directory },
  serving: {
    bindAddress: values['bind-address'],
    securePort: Number(values['secure-port']),
    ...(values['tls-cert-file'] !== undefined && { tlsCertFile: values['tls-cert-file'] }),
    ...(values['tls-private-key-file'] !== undefined && { tlsPrivateKeyFile: values['tls-private-key-file'] }),
  },
  // Namespaces, quotas and the like are objects of the main server.
  admission: { disabledPlugins: ['NamespaceLifecycle', 'LimitRanger', 'ResourceQuota', 'ServiceAccount'] },
});
const server = await startServer(config, {
  modules: (context) => [WidgetsModule.for(context)],
  servedGroups: ['shop.example.com'],
  reconciles: false,
});
process.stdout.write(`Serving shop.example.com on ${server.url}\n`);
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void server.close());
