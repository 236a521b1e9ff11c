import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { eventually } from './eventually.js';
import { listenForReviews, ReviewServer } from './review-server.js';

/** An event as it is written, with the fields that tests read. */
export interface AuditLine {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly level: string;
  readonly auditID: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly verb: string;
  readonly user: Record<string, unknown>;
  readonly impersonatedUser?: Record<string, unknown>;
  readonly sourceIPs: string[];
  readonly objectRef?: Record<string, string>;
  readonly responseStatus?: Record<string, unknown>;
  readonly requestObject?: unknown;
  readonly responseObject?: unknown;
  readonly annotations?: Record<string, string>;
}

/** A directory with an audit policy and the log of a server. */
export class AuditFiles {
  readonly directory = mkdtempSync(join(tmpdir(), 'keelson-audit-'));
  readonly log = join(this.directory, 'audit.log');
  readonly policy = join(this.directory, 'policy.yaml');

  /** `rules` is a YAML list, or a whole policy without its head. */
  constructor(rules: string) {
    const content = rules.includes('rules:') ? rules : `rules: ${rules}`;
    writeFileSync(this.policy, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${content}\n`);
  }

  /** Settings of a server that records into the log. */
  config(log: NonNullable<ConfigOverrides['audit']>['log'] = {}): ConfigOverrides {
    return { audit: { policyFile: this.policy, log: { path: this.log, ...log } } };
  }

  text(): string {
    return existsSync(this.log) ? readFileSync(this.log, 'utf8') : '';
  }

  lines(): AuditLine[] {
    return linesOf(this.text());
  }

  /** Waits for the events of a request. Its Audit-Id is in the header of every response. */
  async of(answer: { readonly headers: Record<string, unknown> }, count = 1): Promise<AuditLine[]> {
    const own = () => this.lines().filter(({ auditID }) => auditID === answer.headers['audit-id']);
    await eventually(`${count} events`, () => own().length >= count);
    return own();
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export const linesOf = (text: string): AuditLine[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditLine);

interface EventList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly AuditLine[];
}

/** An HTTPS server that gets EventLists. It accepts them by default. */
export class AuditServer extends ReviewServer<EventList> {
  answer: (response: ServerResponse, request: IncomingMessage) => void = (response) =>
    void response.writeHead(200).end();

  static async start(): Promise<AuditServer> {
    const { server, ca } = await listenForReviews();
    return new AuditServer(server, ca, '/events');
  }

  get events(): readonly AuditLine[] {
    return this.reviews.flatMap(({ items }) => items);
  }

  protected override reply(_list: EventList, response: ServerResponse, request: IncomingMessage): void {
    this.answer(response, request);
  }
}
