import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, required } from './field-rules.js';
import { isSet } from './fields.js';
import { firstParts, validateDnsSubdomain, validatePortNumber } from './names.js';

/** Versions of the reviews that this server sends to webhooks. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

const form = '; desired format: https://host[/path]';

/** WebhookClientConfig of admission webhooks and of conversion webhooks. */
interface WebhookClient {
  readonly url?: string | undefined;
  readonly service?: WebhookService | undefined;
}

interface WebhookService {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

/** Requires either a URL or a Service, and validates it. */
export function validateWebhookClient({ url, service }: WebhookClient, at: FieldPath): FieldError[] {
  if (isSet(url) === isSet(service)) return required(undefined, at, 'exactly one of url or service is required');
  return service
    ? validateWebhookService(service, at.child('service'))
    : validateWebhookUrl(url ?? '', at.child('url'));
}

/** scheme, authority, query and fragment, by RFC 3986, appendix B. */
const urlParts = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s;

function validateWebhookUrl(url: string, at: FieldPath): FieldError[] {
  const [, scheme = '', authority = '', query = '', fragment = ''] = urlParts.exec(url) ?? [];
  const invalid = (value: string, message: string) => fieldError.invalid(at, value, message);
  const errors: FieldError[] = [];
  const userEnd = authority.lastIndexOf('@');
  const host = authority.slice(userEnd + 1);
  if (scheme !== 'https') errors.push(invalid(scheme, `'https' is the only allowed URL scheme${form}`));
  if (host === '') errors.push(invalid(host, `host must be specified${form}`));
  if (userEnd >= 0) {
    errors.push(invalid(authority.slice(0, userEnd), 'user information is not permitted in the URL'));
  }
  if (fragment !== '') errors.push(invalid(fragment, 'fragments are not permitted in the URL'));
  if (query !== '') errors.push(invalid(query, 'query parameters are not permitted in the URL'));
  return errors;
}

function validateWebhookService(service: WebhookService, at: FieldPath): FieldError[] {
  const { name, namespace, path = '', port = 0 } = service;
  return [
    ...required(name, at.child('name'), 'service name is required'),
    ...required(namespace, at.child('namespace'), 'service namespace is required'),
    ...validatePortNumber(port).map((problem) =>
      fieldError.invalid(at.child('port'), port, `port is not valid: ${problem}`),
    ),
    ...checked(path, at.child('path'), pathProblems),
  ];
}

function pathProblems(path: string): string[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return ['segment[0] may not be empty'];
  const inner = path.slice(1);
  const segments = firstParts(inner.endsWith('/') ? inner.slice(0, -1) : inner, '/');
  return [
    ...(path.startsWith('/') ? [] : ["must start with a '/'"]),
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [`segment[${index}] may not be empty`]
        : validateDnsSubdomain(segment).map((problem) => `segment[${index}]: ${problem}`),
    ),
  ];
}
