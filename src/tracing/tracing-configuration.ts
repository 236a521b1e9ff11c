import { readFileSync } from 'node:fs';
import { parseYamlMapping } from '../config/config-files.js';
import { FlagError } from '../config/flag-error.js';
import type { NamingProfile } from '../config/naming-profile.js';
import { ConfigReader } from '../machinery/config-reader.js';
import { fieldError, goQuote } from '../machinery/field-error.js';

/** The content of --tracing-config-file. */
interface TracingConfiguration {
  /** URL of the collector, for Http2Channel. */
  readonly url: string;
  /** Part of the requests that are sampled, of those that continue no sampled trace. */
  readonly samplingRate: number;
}

const flag = 'tracing-config-file';
const million = 1_000_000;
const defaultUrl = 'http://localhost:4317';

/** Reads the file. Throws a FlagError with all problems, in kube-apiserver's words where it has them. */
export function readTracingConfiguration(file: string, naming: NamingProfile): TracingConfiguration {
  const problems: string[] = [];
  const root = new ConfigReader(parse(file), '', problems);
  const group = naming.group('apiserver.config');
  let url = defaultUrl;
  let rate = 0;
  if (
    root.hasKind(
      'TracingConfiguration',
      ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`),
    )
  ) {
    root.allowOnly('apiVersion', 'kind', 'endpoint', 'samplingRatePerMillion');
    rate = root.integer('samplingRatePerMillion') ?? 0;
    for (const detail of rateProblems(rate)) problems.push(`samplingRatePerMillion: ${detail}`);
    const endpoint = root.string('endpoint');
    if (endpoint !== undefined) {
      const collector = collectorOf(endpoint);
      if ('problem' in collector) problems.push(`endpoint: ${collector.problem}`);
      else ({ url } = collector);
    }
  }
  if (problems.length > 0) throw new FlagError(flag, problems, file);
  return { url, samplingRate: rate / million };
}

function parse(file: string) {
  try {
    return { ...parseYamlMapping(readFileSync(file, 'utf8')) };
  } catch (error) {
    throw new FlagError(flag, [error instanceof Error ? error.message : String(error)], file);
  }
}

function rateProblems(rate: number): string[] {
  const invalid = (detail: string) => [fieldError.invalid('', rate, detail).detail];
  if (rate < 0) return invalid('sampling rate must be positive');
  return rate > million ? invalid('sampling rate per million must be less than or equal to one million') : [];
}

type Collector = { readonly url: string } | { readonly problem: string };

const hostPort = /^(\[[0-9a-fA-F:.]+\]|[^:[\]/?#@\s]+)(?::(\d+))?$/;
/** That of gRPC for a name without port. */
const portDefault = '443';

/** Reads a name as gRPC does: `host:port`, `dns:///host:port`, `unix:///path`, `unix-abstract:///name`. */
function collectorOf(endpoint: string): Collector {
  const text = endpoint.includes('//') ? endpoint : `dns://${endpoint}`;
  const [, scheme = '', authority = '', path = ''] =
    /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?\/\/([^/]*)(.*)$/s.exec(text) ?? [];
  const invalid = (detail: string): Collector => ({ problem: fieldError.invalid('', text, detail).detail });
  switch (scheme.toLowerCase()) {
    case 'dns':
      // A name with a scheme is in the path: the authority of dns://8.8.8.8/host is a DNS server.
      if (text === endpoint && authority !== '') return invalid('a DNS server cannot be named; write dns:///host:port');
      return hostOf(text === endpoint ? path.slice(1) : authority + path, (detail) =>
        invalid(`parse ${goQuote(text)}: ${detail}`),
      );
    case 'unix':
    case 'unix-abstract': {
      if (authority !== '' || path.length < 2) return invalid(`write ${scheme}:///path, without a host`);
      return { url: scheme === 'unix' ? `unix:${path}` : `unix:@${path}` };
    }
    default:
      return invalid(
        `unsupported scheme: ${scheme}.  Options are none, dns, unix, or unix-abstract.  ` +
          'See https://github.com/grpc/grpc/blob/master/doc/naming.md',
      );
  }
}

function hostOf(name: string, invalid: (detail: string) => Collector): Collector {
  const [, host, port = portDefault] = hostPort.exec(name) ?? [];
  const badPort = /(:[^:\]]*\D[^:\]]*)$/.exec(name)?.[1];
  if (host === undefined)
    return invalid(badPort === undefined ? 'no host and port' : `invalid port ${goQuote(badPort)} after host`);
  if (Number(port) > 65_535) return invalid(`invalid port ${goQuote(`:${port}`)} after host`);
  return { url: `http://${host}:${port}` };
}
