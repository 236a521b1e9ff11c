import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '../../src/agent/agent.js';
import { loadAgentOptions } from '../../src/agent/options/load-agent-options.js';
import { UndoSteps } from '../../src/assembly/undo-steps.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import { systemClock, type Clock } from '../../src/std/clock.js';
import type { Logger } from '../../src/std/logger.js';
import { systemRng } from '../../src/std/rng.js';
import { tokenSecret } from './bootstrap-tokens.js';
import { eventually } from './eventually.js';
import type { HttpClient } from './http-client.js';

/** Paths of objects of nodes. */
export const nodePaths = {
  nodes: '/api/v1/nodes',
  leases: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  requests: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
  secrets: '/api/v1/namespaces/kube-system/secrets',
};
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const apiGroup = 'rbac.authorization.k8s.io';
const csrRole = 'system:certificates.k8s.io:certificatesigningrequests';
const bootstrapGroup = 'system:bootstrappers:agents';

/** Configuration of a server whose nodes have no more rights than system:nodes. */
export const nodeServerConfig = {
  authentication: { bootstrapTokens: true },
  authorization: { modes: ['Node', 'RBAC'] },
  admission: { enabledPlugins: ['NodeRestriction'] },
} as const satisfies ConfigOverrides;

/** Lets agents with a bootstrap token request certificates, and approves those of clients. Returns the token. */
export async function allowBootstrap(admin: HttpClient, id = 'abc123', isApproved = true): Promise<string> {
  const secret = '0123456789abcdef';
  await admin.post(nodePaths.secrets, tokenSecret(id, secret, { 'auth-extra-groups': bootstrapGroup }));
  for (const [name, role, group] of [
    ['agents-bootstrap', 'system:node-bootstrapper', bootstrapGroup],
    ...(isApproved ? ([['agents-approve', `${csrRole}:nodeclient`, bootstrapGroup]] as const) : []),
    ['agents-renew', `${csrRole}:selfnodeclient`, 'system:nodes'],
  ] as const) {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: role };
    await admin.post(bindings, { metadata: { name }, roleRef, subjects: [{ apiGroup, kind: 'Group', name: group }] });
  }
  return `${id}.${secret}`;
}

interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An agent in this process, with a directory of its own that outlives it. */
export class JoiningAgent {
  readonly directory = mkdtempSync(join(tmpdir(), 'keelson-node-'));
  readonly kubeconfig = join(this.directory, 'kubeconfig');
  readonly bootstrapKubeconfig = join(this.directory, 'bootstrap-kubeconfig');
  readonly pki = join(this.directory, 'pki');
  readonly lines: LogLine[] = [];
  url: string | undefined;
  private undo = new UndoSteps();

  constructor(
    readonly name: string,
    private readonly address = '127.0.0.1',
  ) {}

  /** Writes the bootstrap kubeconfig. */
  writeBootstrap({ url, ca }: { readonly url: string; readonly ca: string }, token: string): void {
    const cluster = { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const content = {
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster }],
      users: [{ name: 'a', user: { token } }],
    };
    writeFileSync(this.bootstrapKubeconfig, JSON.stringify(content), { mode: 0o600 });
  }

  get flags(): readonly string[] {
    return [
      `--hostname-override=${this.name}`,
      `--root-dir=${this.directory}`,
      `--kubeconfig=${this.kubeconfig}`,
      `--address=${this.address}`,
      `--node-ip=${this.address}`,
      '--port=0',
      '--healthz-port=0',
    ];
  }

  get bootstrapFlag(): string {
    return `--bootstrap-kubeconfig=${this.bootstrapKubeconfig}`;
  }

  /** Resolves when the agent serves, which it does after its bootstrap. */
  async start(flags: readonly string[], clock: Clock = systemClock): Promise<void> {
    const loaded = loadAgentOptions([...this.flags, ...flags]);
    if (loaded.errors) throw new Error(loaded.errors.join('\n'));
    const line =
      (level: LogLine['level']) =>
      (message: string, fields: LogLine['fields'] = {}) =>
        void this.lines.push({ level, message, fields });
    const logger: Logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
    const undo = (this.undo = new UndoSteps());
    const { url } = await startAgent({ options: loaded.options, undo, logger, clock, rng: systemRng });
    this.url = url;
  }

  /** Resolves with the first line with this text. */
  async logged(text: string): Promise<LogLine> {
    const find = () => this.lines.find(({ message }) => message.includes(text));
    await eventually(`the agent logs "${text}": ${JSON.stringify(this.lines)}`, () => find() !== undefined);
    return find()!;
  }

  /** Stops the agent and keeps its directory. */
  async stop(): Promise<void> {
    const { undo } = this;
    this.undo = new UndoSteps();
    await undo.run();
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Returns the status of the condition Ready. */
export function readiness(node: KubeObject | undefined): string | undefined {
  const { conditions = [] } = (node?.['status'] ?? {}) as { conditions?: { type: string; status: string }[] };
  return conditions.find(({ type }) => type === 'Ready')?.status;
}
