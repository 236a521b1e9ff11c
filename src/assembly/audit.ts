import { readFile } from 'node:fs/promises';
import { Auditor } from '../audit/auditor.js';
import { AllSinks, LossLog, TolerantSink, type AuditSink } from '../audit/audit-sink.js';
import { BufferedSink } from '../audit/buffered-sink.js';
import { LogFile } from '../audit/log-file.js';
import { LogSink } from '../audit/log-sink.js';
import { readAuditPolicy } from '../audit/read-audit-policy.js';
import { StandardOutputLog } from '../audit/standard-output.js';
import { TruncatingSink } from '../audit/truncating-sink.js';
import type { AuditSinkConfig } from '../config/audit-config.js';
import { FlagError } from '../config/flag-error.js';
import type { ServerConfig } from '../config/server-config.js';
import { ClientError, reasonOf } from '../kubeconfig-client/client-error.js';
import { AuditMetrics } from '../metrics/audit-metrics.js';
import type { Rng } from '../std/rng.js';
import type { FileWatching } from './tls.js';

/** The audit log, with the metrics that it updates. */
export interface AuditComponents {
  /** Undefined if nothing is recorded. */
  readonly auditor: Auditor | undefined;
  /** Takes the events of all processes of this server; undefined if nothing is recorded. */
  readonly auditSink?: AuditSink | undefined;
  readonly auditMetrics: AuditMetrics;
}

interface SinkOptions extends FileWatching {
  readonly rng: Rng;
  readonly losses: LossLog;
  /** `audit.k8s.io/v1` */
  readonly apiVersion: string;
}

/** Reads the audit policy and opens the sinks. A worker has one sink instead. Rejects with a FlagError. */
export async function openAudit(
  config: ServerConfig,
  watching: FileWatching & { readonly rng: Rng; readonly workerSink?: AuditSink | undefined },
): Promise<AuditComponents> {
  const { naming, audit, limits } = config;
  const auditMetrics = new AuditMetrics();
  const { policyFile: file } = audit;
  if (file === undefined) return { auditor: undefined, auditMetrics };
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new FlagError('audit-policy-file', [reasonOf(error)], file);
  });
  const group = naming.group('audit');
  const policy = readAuditPolicy(text, { file, group });
  const { clock, logger, undo } = watching;
  const losses = new LossLog({ clock, logger, observer: auditMetrics });
  const options = { ...watching, losses, apiVersion: `${group}/v1` };
  const { workerSink } = watching;
  const isRecorded = audit.log.path !== undefined || audit.webhook.configFile !== undefined;
  const opened = workerSink
    ? [isRecorded ? workerSink : undefined]
    : [await openLog(config, options), await openWebhook(config, options)];
  const sinks = opened.filter((sink) => sink !== undefined);
  if (sinks.length === 0) return { auditor: undefined, auditMetrics };
  const auditSink = new AllSinks(sinks);
  const auditor = new Auditor({
    policy,
    sink: auditSink,
    observer: auditMetrics,
    clock,
    closeTimeoutMs: limits.auditCloseTimeoutMs,
    latencyPrefix: `${naming.group('apiserver.latency')}/`,
  });
  undo.add(() => auditor.close());
  return { auditor, auditSink, auditMetrics };
}

async function openLog(config: ServerConfig, options: SinkOptions): Promise<AuditSink | undefined> {
  const { log } = config.audit;
  const { path, format } = log;
  if (path === undefined) return undefined;
  const { clock, logger } = options;
  const target =
    path === '-'
      ? new StandardOutputLog(clock)
      : await LogFile.open({ ...log, path, clock, logger }).catch((error: unknown) => {
          throw new FlagError('audit-log-path', [reasonOf(error)], path);
        });
  return withMode(config, log, new LogSink(target, { ...options, format }), options, 1);
}

async function openWebhook(config: ServerConfig, options: SinkOptions): Promise<AuditSink | undefined> {
  const { webhook } = config.audit;
  const { configFile: file, initialBackoffMs } = webhook;
  if (file === undefined) return undefined;
  const { clock, logger } = options;
  // Most servers have no webhook and do not load it.
  const [{ openKubeconfigClient }, { WebhookSink }] = await Promise.all([
    import('../kubeconfig-client/open-client.js'),
    import('../audit/webhook-sink.js'),
  ]);
  const client = await openKubeconfigClient({ file, naming: config.naming, clock, logger }).catch((error: unknown) => {
    throw error instanceof ClientError ? new FlagError('audit-webhook-config-file', [error.message]) : error;
  });
  const sink = new WebhookSink({ ...options, client, initialBackoffMs });
  return withMode(config, webhook, sink, options, config.limits.auditWebhookCallsMax);
}

function withMode(
  { limits, naming }: ServerConfig,
  config: AuditSinkConfig,
  sink: AuditSink,
  { losses, clock }: SinkOptions,
  concurrentMax: number,
): AuditSink {
  const { mode, batch, truncates, eventBytesMax } = config;
  const batchBytesMax = truncates ? config.batchBytesMax : Infinity;
  const moded =
    mode === 'blocking-strict'
      ? sink
      : mode === 'blocking'
        ? new TolerantSink(sink)
        : new BufferedSink(sink, {
            ...{ batch, concurrentMax, batchBytesMax, clock, losses },
            bytesMax: limits.auditBufferBytesMax,
          });
  if (!truncates) return moded;
  return new TruncatingSink(moded, { eventBytesMax, losses, annotation: `${naming.group('audit')}/truncated` });
}
