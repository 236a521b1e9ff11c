import { asFields, asItems, asText } from '../../src/machinery/fields.js';
import type { KubeObject } from '../../src/machinery/kube-object.js';
import type { ApiClient } from './api-client.js';

const renewMs = 10_000;
const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';

/** Label of Pods that end with success as soon as they run. */
export const endsAtOnce = 'ends-at-once';

/**
 * Registers nodes, renews their Leases, and advances the status of their Pods as kubelets do, without any container.
 */
export class SimulatedKubelets {
  readonly errors: string[] = [];
  private readonly lost = new Set<string>();
  private readonly busy = new Set<string>();
  private readonly latest = new Map<string, KubeObject>();
  private timer: NodeJS.Timeout | undefined;
  private stopWatch: (() => void) | undefined;
  private addresses = 0;

  constructor(
    private readonly client: ApiClient,
    readonly names: readonly string[],
  ) {}

  async start(): Promise<void> {
    for (const name of this.names) await this.register(name);
    this.timer = setInterval(() => this.names.forEach((name) => void this.renew(name)), renewMs);
    this.stopWatch = await this.client.watch('/api/v1/pods', ({ type, object }) => {
      const uid = object.metadata?.uid;
      if (uid === undefined) return;
      if (type === 'DELETED') this.latest.delete(uid);
      else {
        this.latest.set(uid, object);
        void this.advance(uid);
      }
    });
  }

  /** Stops renewing the Lease of a node, like a machine without power. */
  lose(name: string): void {
    this.lost.add(name);
  }

  async recover(name: string): Promise<void> {
    this.lost.delete(name);
    await this.renew(name);
    await this.client.patch(`/api/v1/nodes/${name}/status`, { status: { conditions: conditions() } }, 'strategic');
  }

  stop(): void {
    clearInterval(this.timer);
    this.stopWatch?.();
  }

  private async register(name: string): Promise<void> {
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
    await this.client.post('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
    const capacity = { cpu: '64', memory: '256Gi', pods: '500', 'ephemeral-storage': '1Ti' };
    const status = { capacity, allocatable: capacity, conditions: conditions() };
    await this.client.must(this.client.patch(`/api/v1/nodes/${name}/status`, { status }, 'strategic'));
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime() };
    await this.client.post(leases, { metadata: { name, namespace: 'kube-node-lease' }, spec });
  }

  private async renew(name: string): Promise<void> {
    if (this.lost.has(name)) return;
    const spec = { renewTime: microTime() };
    await this.note(this.client.must(this.client.patch(`${leases}/${name}`, { spec })));
  }

  /** Advances a Pod by one step, then looks again. */
  private async advance(uid: string): Promise<void> {
    if (this.busy.has(uid)) return;
    this.busy.add(uid);
    for (;;) {
      const pod = this.latest.get(uid);
      if (!pod) break;
      await this.note(this.step(pod));
      if (this.latest.get(uid) === pod) break;
    }
    this.busy.delete(uid);
  }

  private async step(pod: KubeObject): Promise<void> {
    const { name, namespace, uid, deletionTimestamp, labels } = pod.metadata;
    const spec = asFields(pod['spec']);
    const node = asText(spec['nodeName']);
    if (!this.names.includes(node) || this.lost.has(node)) return;
    const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
    if (deletionTimestamp !== undefined) {
      const body = { gracePeriodSeconds: 0, preconditions: { uid } };
      expectOneOf(await this.client.delete(path, body), [200, 404, 409]);
      return;
    }
    if (asText(asFields(pod['status'])['phase']) !== 'Pending') return;
    const now = new Date().toISOString().replace(/\.\d+/, '');
    const isEnded = labels?.[endsAtOnce] !== undefined;
    const state = isEnded
      ? { terminated: { exitCode: 0, reason: 'Completed', startedAt: now, finishedAt: now } }
      : { running: { startedAt: now } };
    const isReady = isEnded ? 'False' : 'True';
    const podIP = `10.244.${(this.addresses >> 8) & 255}.${this.addresses++ & 255}`;
    const status = {
      phase: isEnded ? 'Succeeded' : 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      hostIP: '192.0.2.1',
      hostIPs: [{ ip: '192.0.2.1' }],
      startTime: now,
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => {
        const isTrue = type.endsWith('Ready') ? isReady : 'True';
        return { type, status: isTrue, lastTransitionTime: now };
      }),
      containerStatuses: asItems(spec['containers']).map(({ name, image }) => {
        const isRunning = !isEnded;
        return { name, image, imageID: 'none', ready: isRunning, started: isRunning, restartCount: 0, state };
      }),
    };
    expectOneOf(await this.client.patch(`${path}/status`, { metadata: { uid }, status }, 'strategic'), [200, 404, 409]);
  }

  private async note(action: Promise<unknown>): Promise<void> {
    try {
      await action;
    } catch (error) {
      this.errors.push((error as Error).message);
    }
  }
}

function expectOneOf({ code, text }: { readonly code: number; readonly text: string }, codes: readonly number[]): void {
  if (!codes.includes(code)) throw new Error(`${code}: ${text.slice(0, 300)}`);
}

function conditions() {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  const pressures = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({ type, status: 'False' }));
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'simulated' };
  return [...pressures, ready].map((condition) => ({ ...condition, ...times }));
}

const microTime = () => new Date().toISOString().replace('Z', '000Z');
