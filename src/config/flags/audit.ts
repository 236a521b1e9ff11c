import { used, type Flag, type FlagTopic } from '../flag.js';

export const auditModes = ['batch', 'blocking', 'blocking-strict'] as const;
export const auditFormats = ['json', 'legacy'] as const;
export const auditVersions = ['audit.k8s.io/v1'] as const;

interface SinkDefaults {
  readonly mode: (typeof auditModes)[number];
  readonly batch: readonly [size: string, wait: string, burst: string, throttle: string, qps: string];
}

/** Declares the flags that log and webhook share. */
const sinkFlags = (sink: 'log' | 'webhook', { mode, batch }: SinkDefaults): Flag[] => [
  used(
    `audit-${sink}-batch-buffer-size`,
    'int',
    '10000',
    `audit.${sink}.batch.eventsWaitingMax`,
    'batch mode: maximum number of events that wait; further ones are dropped and counted',
  ),
  used(
    `audit-${sink}-batch-max-size`,
    'int',
    batch[0],
    `audit.${sink}.batch.eventsMax`,
    'batch mode: maximum number of events in a batch',
  ),
  used(
    `audit-${sink}-batch-max-wait`,
    'duration',
    batch[1],
    `audit.${sink}.batch.waitMs`,
    'batch mode: maximum time until an incomplete batch is written',
  ),
  used(
    `audit-${sink}-batch-throttle-burst`,
    'int',
    batch[2],
    `audit.${sink}.batch.burst`,
    'batch mode: maximum burst of batches',
  ),
  used(
    `audit-${sink}-batch-throttle-enable`,
    'bool',
    batch[3],
    `audit.${sink}.batch.isThrottled`,
    'batch mode: limit the rate of batches',
  ),
  used(
    `audit-${sink}-batch-throttle-qps`,
    'float',
    batch[4],
    `audit.${sink}.batch.batchesPerSecond`,
    'batch mode: maximum number of batches per second',
  ),
  used(
    `audit-${sink}-mode`,
    'string',
    mode,
    `audit.${sink}.mode`,
    'writing of events: in the background (batch), or before the response (blocking); blocking-strict also fails a request that cannot be recorded when it begins',
    { choices: auditModes },
  ),
  used(
    `audit-${sink}-truncate-enabled`,
    'bool',
    'false',
    `audit.${sink}.truncates`,
    'remove the objects of events that are too large, and split batches',
  ),
  used(
    `audit-${sink}-truncate-max-batch-size`,
    'int',
    '10485760',
    `audit.${sink}.batchBytesMax`,
    'maximum size of a batch in bytes',
  ),
  used(
    `audit-${sink}-truncate-max-event-size`,
    'int',
    '102400',
    `audit.${sink}.eventBytesMax`,
    'maximum size of an event in bytes; larger ones lose their objects, or are dropped',
  ),
  used(`audit-${sink}-version`, 'string', 'audit.k8s.io/v1', `audit.${sink}.version`, 'API version of written events', {
    choices: auditVersions,
  }),
];

export const auditFlags: FlagTopic = {
  title: 'Auditing',
  flags: [
    used(
      'audit-policy-file',
      'string',
      '',
      'audit.policyFile',
      'audit policy file, which selects requests and the detail of their events; nothing is recorded without it',
    ),
    used(
      'audit-log-path',
      'string',
      '',
      'audit.log.path',
      'file to which audit events are appended; - is standard output',
    ),
    used('audit-log-format', 'string', 'json', 'audit.log.format', 'format of audit events', { choices: auditFormats }),
    used('audit-log-compress', 'bool', 'false', 'audit.log.compresses', 'compress rotated files with gzip'),
    used('audit-log-maxage', 'int', '366', 'audit.log.daysMax', 'days that rotated files are kept; 0 for no limit'),
    used(
      'audit-log-maxbackup',
      'int',
      '100',
      'audit.log.filesMax',
      'number of rotated files that are kept; 0 for no limit',
    ),
    used(
      'audit-log-maxsize',
      'int',
      '100',
      'audit.log.megabytesMax',
      'size in megabytes at which the file is rotated; 0 for no limit',
    ),
    used('audit-webhook-config-file', 'string', '', 'audit.webhook.configFile', 'kubeconfig of the audit webhook'),
    used(
      'audit-webhook-initial-backoff',
      'duration',
      '10s',
      'audit.webhook.initialBackoffMs',
      'delay before the first retry of a batch',
    ),
    ...sinkFlags('log', { mode: 'blocking', batch: ['1', '0s', '0', 'false', '0'] }),
    ...sinkFlags('webhook', { mode: 'batch', batch: ['400', '30s', '15', 'true', '10'] }),
  ],
};
