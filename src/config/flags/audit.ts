import { accepted, type Flag, type FlagTopic } from '../flag.js';

/** Declares the flags of a sink; log and webhook have the same. */
const sinkFlags = (
  sink: 'log' | 'webhook',
  defaults: {
    mode: string;
    batch: readonly [size: string, wait: string, burst: string, throttle: string, qps: string];
  },
): Flag[] => [
  accepted(`audit-${sink}-batch-buffer-size`, 'int', '10000', 'batch mode: maximum number of buffered events'),
  accepted(`audit-${sink}-batch-max-size`, 'int', defaults.batch[0], 'batch mode: maximum number of events in a batch'),
  accepted(
    `audit-${sink}-batch-max-wait`,
    'duration',
    defaults.batch[1],
    'batch mode: maximum time until an incomplete batch is written',
  ),
  accepted(`audit-${sink}-batch-throttle-burst`, 'int', defaults.batch[2], 'batch mode: maximum burst of batches'),
  accepted(`audit-${sink}-batch-throttle-enable`, 'bool', defaults.batch[3], 'batch mode: limit the rate of batches'),
  accepted(
    `audit-${sink}-batch-throttle-qps`,
    'float',
    defaults.batch[4],
    'batch mode: maximum number of batches per second',
  ),
  accepted(
    `audit-${sink}-mode`,
    'string',
    defaults.mode,
    'writing of events: in the background (batch), or before the response (blocking)',
    {
      choices: ['batch', 'blocking', 'blocking-strict'],
    },
  ),
  accepted(`audit-${sink}-truncate-enabled`, 'bool', 'false', 'truncate events and batches that are too large'),
  accepted(`audit-${sink}-truncate-max-batch-size`, 'int', '10485760', 'maximum size of a batch in bytes'),
  accepted(`audit-${sink}-truncate-max-event-size`, 'int', '102400', 'maximum size of an event in bytes'),
  accepted(`audit-${sink}-version`, 'string', 'audit.k8s.io/v1', 'API version of written events'),
];

export const auditFlags: FlagTopic = {
  title: 'Auditing',
  flags: [
    accepted('audit-policy-file', 'string', '', 'audit policy file'),
    accepted('audit-log-path', 'string', '', 'file to which audit events are written; - is standard output'),
    accepted('audit-log-format', 'string', 'json', 'format of audit events', { choices: ['json', 'legacy'] }),
    accepted('audit-log-compress', 'bool', 'false', 'compress rotated files'),
    accepted('audit-log-maxage', 'int', '0', 'number of days that rotated files are kept'),
    accepted('audit-log-maxbackup', 'int', '0', 'number of rotated files that are kept'),
    accepted('audit-log-maxsize', 'int', '0', 'size in megabytes at which the file is rotated'),
    accepted('audit-webhook-config-file', 'string', '', 'kubeconfig of the audit webhook'),
    accepted('audit-webhook-initial-backoff', 'duration', '10s', 'delay before the first retry'),
    ...sinkFlags('log', { mode: 'blocking', batch: ['1', '0s', '0', 'false', '0'] }),
    ...sinkFlags('webhook', { mode: 'batch', batch: ['400', '30s', '15', 'true', '10'] }),
  ],
};
