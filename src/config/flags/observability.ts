import { accepted, used, type FlagTopic } from '../flag.js';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;

export const metricsFlags: FlagTopic = {
  title: 'Metrics',
  flags: [
    accepted('allow-metric-labels', 'map', '', 'values that a label of a metric may take'),
    accepted('allow-metric-labels-manifest', 'string', '', 'file with the same'),
    accepted('disabled-metrics', 'list', '', 'metrics not to keep'),
    used(
      'show-hidden-metrics-for-version',
      'string',
      '',
      'showHiddenMetricsForVersion',
      'the previous release: show the metrics that are hidden since they were deprecated three releases ago or more',
    ),
  ],
};

export const logFlags: FlagTopic = {
  title: 'Logs',
  flags: [
    used('log-level', 'string', 'info', 'log.level', 'least severe lines to log', { choices: logLevels }),
    used('v', 'int', '0', 'log.verbosity', 'verbosity; 4 and above log at debug level, as -v 4 too'),
    accepted('log-flush-frequency', 'duration', '5s', 'how often the log is flushed'),
    accepted('log-json-info-buffer-size', 'string', '0', 'JSON logs: bytes to buffer'),
    accepted(
      'log-json-split-stream',
      'bool',
      'false',
      'JSON logs: errors to standard error, the rest to standard output',
    ),
    accepted('log-text-info-buffer-size', 'string', '0', 'text logs: bytes to buffer'),
    accepted(
      'log-text-split-stream',
      'bool',
      'false',
      'text logs: errors to standard error, the rest to standard output',
    ),
    accepted('logging-format', 'string', 'text', 'form of log lines; JSON here', { choices: ['text', 'json'] }),
    accepted('vmodule', 'map', '', 'verbosity by source file'),
  ],
};

export const traceFlags: FlagTopic = {
  title: 'Traces',
  flags: [accepted('tracing-config-file', 'string', '', 'file with the configuration of tracing')],
};
