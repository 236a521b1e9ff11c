import type { HostileAnswer, HostileRequest } from './attack.js';
import { HoldMeter } from './hold-meter.js';
import { HostileWebhook } from './hostile-webhook.js';
import { prepare } from './prepare.js';
import type { Hold } from './probe.js';
import { answerMsMax, Requester } from './requester.js';
import { ServerUnderAttack, type AttackedStore } from './server-under-attack.js';

/** Time for the work that follows an answer, such as notifying watchers and reconcilers. */
const settleMs = 8;

interface Measured {
  readonly answers: readonly HostileAnswer[];
  readonly hold: Hold;
  readonly tookMs: number;
  readonly hot: readonly string[];
}

/** A server under attack, with a requester and a probe. */
export class AttackSession {
  private constructor(
    readonly server: ServerUnderAttack,
    readonly requester: Requester,
    readonly webhook: HostileWebhook,
    private readonly meter: HoldMeter,
  ) {}

  static async start(store: AttackedStore): Promise<AttackSession> {
    const server = await ServerUnderAttack.start(store);
    const requester = new Requester(server);
    const webhook = await HostileWebhook.start();
    try {
      await prepare(requester);
      const { hostname, port } = new URL(server.url);
      const meter = await HoldMeter.start({ host: hostname, port: Number(port), ca: server.ca, pid: server.pid });
      return new AttackSession(server, requester, webhook, meter);
    } catch (error) {
      requester.close();
      webhook.stop();
      await server.stop();
      throw error;
    }
  }

  /** Sends the requests at once; large numbers in batches. */
  async measured(requests: readonly HostileRequest[], isProfiled: boolean): Promise<Measured> {
    if (isProfiled) await this.server.observe('startProfile');
    await this.meter.reset();
    const begin = performance.now();
    const answers = await this.requester.sendAll(requests);
    await sleep(settleMs);
    // Do not wait for a server that hangs.
    const hold = await Promise.race([
      this.meter.read().catch(() => undefined),
      sleep(answerMsMax).then(() => undefined),
    ]);
    const tookMs = performance.now() - begin;
    if (!hold) return { answers: answers.map(unanswered), hold: { wallMs: tookMs, cpuMs: tookMs }, tookMs, hot: [] };
    const hot = isProfiled ? (await this.server.observe('stopProfile')).hot : [];
    return { answers, hold, tookMs, hot };
  }

  async stop(): Promise<void> {
    this.meter.stop();
    this.requester.close();
    this.webhook.stop();
    await this.server.stop();
  }
}

/** Sleeps without keeping the process: the server's process does. */
const sleep = (forMs: number) => new Promise<void>((resolve) => void setTimeout(resolve, forMs).unref());

const unanswered = (answer: HostileAnswer): HostileAnswer => ({ ...answer, code: -1 });
