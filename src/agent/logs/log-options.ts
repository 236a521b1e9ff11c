import { AgentError } from '../server/agent-request.js';

/** The query of /containerLogs, as in PodLogOptions. */
export interface LogOptions {
  readonly follows: boolean;
  readonly isPrevious: boolean;
  readonly hasTimestamps: boolean;
  /** Lines before `sinceMs` are left out. */
  readonly sinceMs: number | undefined;
  readonly tailLines: number | undefined;
  readonly bytesMax: number | undefined;
  readonly stream: 'All' | 'Stdout' | 'Stderr';
}

/** Reads the query. Throws 400 for values that cannot be decoded, and 422 for those that are not allowed, as the kubelet. */
export function logOptionsOf(query: URLSearchParams, nowMs: number): LogOptions {
  const tail = query.get('tail');
  const tailText = tail === null || tail === '' ? query.get('tailLines') : tail === 'all' ? null : tail;
  const tailLines = wholeOf(tailText);
  const sinceSeconds = wholeOf(query.get('sinceSeconds'));
  const sinceTime = timeOf(query.get('sinceTime'));
  const bytesMax = wholeOf(query.get('limitBytes'));
  const stream = query.get('stream') ?? 'All';
  const isValid =
    (tailLines ?? 0) >= 0 &&
    (sinceSeconds ?? 1) >= 1 &&
    (bytesMax ?? 1) >= 1 &&
    (sinceSeconds === undefined || sinceTime === undefined) &&
    isStream(stream) &&
    (stream === 'All' || tailLines === undefined);
  if (!isValid || !isStream(stream)) throw new AgentError(422, '{"message": "Invalid request."}');
  return {
    follows: flagOf(query.get('follow')),
    isPrevious: flagOf(query.get('previous')),
    hasTimestamps: flagOf(query.get('timestamps')),
    sinceMs: sinceTime ?? (sinceSeconds === undefined ? undefined : nowMs - sinceSeconds * 1_000),
    ...{ tailLines, bytesMax, stream },
  };
}

const isStream = (text: string): text is LogOptions['stream'] => ['All', 'Stdout', 'Stderr'].includes(text);
const undecodable = () => new AgentError(400, '{"message": "Unable to decode query."}');

function wholeOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d{1,18}$/.test(text)) throw undecodable();
  return Number(text);
}

/** As the decoder of parameters in Go: every value but these is true. */
const flagOf = (text: string | null): boolean => text !== null && !['', '0', 'false', 'False', 'FALSE'].includes(text);

function timeOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const ms = isTime ? Date.parse(text) : NaN;
  if (Number.isNaN(ms)) throw undecodable();
  return ms;
}
