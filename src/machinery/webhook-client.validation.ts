import { fieldError, type FieldError, type FieldPath } from './field-error.js';
import { checked, required } from './field-rules.js';
import { asFields, asNumber, asText, isSet, type Fields } from './fields.js';
import { validateDnsSubdomain, validatePortNumber } from './names.js';

/** Versions of the reviews that this server sends to webhooks. */
export const reviewVersions: readonly string[] = ['v1', 'v1beta1'];

const form = '; desired format: https://host[/path]';

/** Validates a WebhookClientConfig: either a URL or a Service. */
export function validateWebhookClient(client: Fields, at: FieldPath): FieldError[] {
  const { url, service } = client;
  if (isSet(url) === isSet(service)) return required(undefined, at, 'exactly one of url or service is required');
  if (isSet(url)) return validateWebhookUrl(asText(url), at.child('url'));
  return validateWebhookService(asFields(service), at.child('service'));
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

function validateWebhookService(service: Fields, at: FieldPath): FieldError[] {
  const port = asNumber(service['port']);
  return [
    ...required(service['name'], at.child('name'), 'service name is required'),
    ...required(service['namespace'], at.child('namespace'), 'service namespace is required'),
    ...validatePortNumber(port).map((problem) =>
      fieldError.invalid(at.child('port'), port, `port is not valid: ${problem}`),
    ),
    ...checked(asText(service['path']), at.child('path'), pathProblems),
  ];
}

function pathProblems(path: string): string[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return ['segment[0] may not be empty'];
  const inner = path.slice(1);
  const segments = (inner.endsWith('/') ? inner.slice(0, -1) : inner).split('/');
  return [
    ...(path.startsWith('/') ? [] : ["must start with a '/'"]),
    ...segments.flatMap((segment, index) =>
      segment === ''
        ? [`segment[${index}] may not be empty`]
        : validateDnsSubdomain(segment).map((problem) => `segment[${index}]: ${problem}`),
    ),
  ];
}
