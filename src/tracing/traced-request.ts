import type { RequestInfo } from '../machinery/request-info.js';
import type { SpanAttributes } from '../std/call-trace.js';
import type { TracedRequest } from './recorded-trace.js';

/** A request as its span describes it. */
export interface DescribedRequest {
  readonly info: RequestInfo;
  readonly auditId: string;
  readonly startMs: number;
  readonly method: string;
  /** As the client sent it. */
  readonly url: string;
  readonly httpVersion: string;
  /** Header fields by name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly peerAddress: string | undefined;
  readonly peerPort: number | undefined;
}

/** Bound on texts that a client chooses. */
const headerLengthMax = 256;

const verbSpans: Readonly<Record<string, string>> = {
  create: 'Create',
  update: 'Update',
  patch: 'Patch',
  delete: 'Delete',
  deletecollection: 'Delete',
  get: 'Get',
  list: 'List',
  watch: 'Watch',
};

export function tracedRequest(request: DescribedRequest): TracedRequest {
  const { info, startMs, method } = request;
  return {
    startMs,
    spanName: info.isResourceRequest ? `${method} ${routeOf(info)}` : method,
    verbSpan: info.isResourceRequest && Object.hasOwn(verbSpans, info.verb) ? verbSpans[info.verb] : undefined,
    attributes: requestAttributes(request),
    verbAttributes: () => verbAttributes(request),
  };
}

/** `/api/v1/namespaces/{:namespace}/pods/{:name}`: the path without names, as in kube-apiserver. */
function routeOf({ apiPrefix, group, version, namespace, resource, name, subresource }: RequestInfo): string {
  return (
    `/${apiPrefix}` +
    (group === '' ? '' : `/${group}`) +
    `/${version}` +
    (namespace === '' ? '' : '/namespaces/{:namespace}') +
    `/${resource}` +
    (name === '' ? '' : '/{:name}') +
    (subresource === '' ? '' : `/${subresource}`)
  );
}

/** The attributes of otelhttp, with the two that kube-apiserver adds: http.target and audit-id. */
function requestAttributes(request: DescribedRequest): SpanAttributes {
  const { info, auditId, method, url, httpVersion, headers, peerAddress, peerPort } = request;
  return {
    'http.request.method': method,
    'url.scheme': 'https',
    'url.path': info.path,
    'network.protocol.version': httpVersion,
    ...(peerAddress !== undefined && { 'network.peer.address': peerAddress, 'client.address': peerAddress }),
    ...(peerPort !== undefined && { 'network.peer.port': peerPort }),
    'server.address': headerText(headers[':authority'] ?? headers['host']),
    'user_agent.original': headerText(headers['user-agent']),
    'http.target': shownTarget(url),
    'audit-id': auditId,
  };
}

function verbAttributes({ info, auditId, headers, httpVersion, peerAddress = '' }: DescribedRequest): SpanAttributes {
  return {
    accept: headerText(headers['accept']),
    'audit-id': auditId,
    client: peerAddress,
    'api-group': info.group,
    'api-version': info.version,
    name: info.name,
    subresource: info.subresource,
    namespace: info.namespace,
    protocol: `HTTP/${httpVersion}`,
    resource: info.resource,
    scope: info.namespace === '' ? 'cluster' : info.name === '' ? 'namespace' : 'resource',
    url: info.path,
    'user-agent': headerText(headers['user-agent']),
    verb: info.verb,
  };
}

const headerText = (value: string | readonly string[] | undefined): string =>
  typeof value === 'string' ? value.slice(0, headerLengthMax) : '';

/** Parameters of the API that hold no secrets. */
const shownParameters = new Set([
  'allowWatchBookmarks',
  'continue',
  'dryRun',
  'exact',
  'export',
  'fieldManager',
  'fieldSelector',
  'fieldValidation',
  'follow',
  'force',
  'gracePeriodSeconds',
  'includeObject',
  'labelSelector',
  'limit',
  'orphanDependents',
  'pretty',
  'previous',
  'propagationPolicy',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'tailLines',
  'timeout',
  'timeoutSeconds',
  'timestamps',
  'verbose',
  'watch',
]);
const parametersMax = 30;
const targetLengthMax = 1_024;

/** Returns the path and query, without the values of unknown parameters: a command or a token may be among them. */
export function shownTarget(url: string): string {
  const cut = url.slice(0, targetLengthMax);
  const queryAt = cut.indexOf('?');
  if (queryAt < 0) return cut;
  const parameters = cut.slice(queryAt + 1).split('&', parametersMax);
  const shown = parameters.map((parameter) => {
    const [name = ''] = parameter.split('=', 1);
    return shownParameters.has(name) || name === parameter ? parameter : `${name}=REDACTED`;
  });
  return `${cut.slice(0, queryAt)}?${shown.join('&')}`;
}
