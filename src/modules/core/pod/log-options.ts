import { ApiError } from '../../../machinery/api-error.js';
import { fieldError, goQuote, type FieldError } from '../../../machinery/field-error.js';
import { isTrueParameter } from '../../../machinery/query.js';
import { coreVersion } from '../core.version.js';

type Parameters = (name: string) => string | undefined;

/** PodLogOptions of a query. */
interface PodLogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly skipsTlsVerification: boolean;
  readonly sinceSeconds: bigint | undefined;
  /** RFC 3339, in seconds. */
  readonly sinceTime: string | undefined;
  readonly tailLines: bigint | undefined;
  readonly limitBytes: bigint | undefined;
  readonly stream: string | undefined;
}

const streams = ['All', 'Stderr', 'Stdout'];

/** Reads the options of a log. Throws 400 for a value that cannot be read, and 422 for options that exclude each other. */
export function podLogOptions(first: Parameters, podName: string, selectsStream: boolean): PodLogOptions {
  const options: PodLogOptions = {
    container: first('container') ?? '',
    follow: isTrueParameter(first('follow')),
    previous: isTrueParameter(first('previous')),
    timestamps: isTrueParameter(first('timestamps')),
    skipsTlsVerification: isTrueParameter(first('insecureSkipTLSVerifyBackend')),
    sinceSeconds: integer(first('sinceSeconds')),
    sinceTime: time(first('sinceTime')),
    tailLines: integer(first('tailLines')),
    limitBytes: integer(first('limitBytes')),
    stream: first('stream') ?? (selectsStream ? 'All' : undefined),
  };
  const errors = problems(options, selectsStream);
  if (errors.length > 0) throw ApiError.invalid({ group: coreVersion.group, kind: 'PodLogOptions' }, podName, errors);
  return options;
}

/** Returns the query for the kubelet, whose parameters are in the order of Go's url.Values. */
export function logQuery(options: PodLogOptions): string {
  const { follow, limitBytes, previous, sinceSeconds, sinceTime, stream, tailLines, timestamps } = options;
  const query = new URLSearchParams();
  if (follow) query.append('follow', 'true');
  if (limitBytes !== undefined) query.append('limitBytes', String(limitBytes));
  if (previous) query.append('previous', 'true');
  if (sinceSeconds !== undefined) query.append('sinceSeconds', String(sinceSeconds));
  if (sinceTime !== undefined) query.append('sinceTime', sinceTime);
  if (stream !== undefined) query.append('stream', stream);
  if (tailLines !== undefined) query.append('tailLines', String(tailLines));
  if (timestamps) query.append('timestamps', 'true');
  return String(query);
}

function problems({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: PodLogOptions, selectsStream: boolean) {
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0n) {
    errors.push(fieldError.invalid('tailLines', tailLines, 'must be greater than or equal to 0'));
  }
  if (limitBytes !== undefined && limitBytes < 1n) {
    errors.push(fieldError.invalid('limitBytes', limitBytes, 'must be greater than 0'));
  }
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(fieldError.forbidden('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n) {
    errors.push(fieldError.invalid('sinceSeconds', sinceSeconds, 'must be greater than 0'));
  }
  if (stream === undefined) return errors;
  if (!selectsStream) return [...errors, fieldError.forbidden('stream', 'may not be specified')];
  if (!streams.includes(stream)) errors.push(fieldError.notSupported('stream', stream, streams));
  if (stream !== 'All' && tailLines !== undefined) {
    errors.push(fieldError.forbidden('', '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return errors;
}

function integer(text: string | undefined): bigint | undefined {
  if (text === undefined) return undefined;
  const isInteger = /^[+-]?\d+$/.test(text);
  // 19 digits are those of the largest int64.
  const value = isInteger && text.length <= 20 ? BigInt(text) : undefined;
  if (value !== undefined && BigInt.asIntN(64, value) === value) return value;
  const problem = isInteger ? 'value out of range' : 'invalid syntax';
  throw ApiError.badRequest(`strconv.ParseInt: parsing ${goQuote(text)}: ${problem}`);
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function time(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'null') return undefined;
  const ms = rfc3339.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(ms)) return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
  const quoted = goQuote(text);
  throw ApiError.badRequest(`parsing time ${quoted} as "2006-01-02T15:04:05Z07:00": cannot parse ${quoted} as "2006"`);
}
