import { X509Certificate } from 'node:crypto';
import { fieldError, type FieldError, type FieldPath } from '../../machinery/field-error.js';
import { required } from '../../machinery/field-rules.js';
import { asFields, asText, asTexts, isSet, type Fields } from '../../machinery/fields.js';
import { validateDns1035Label } from '../../machinery/names.js';
import { validateWebhookClient } from '../../machinery/webhook-client.validation.js';

const reviewVersions = ['v1', 'v1beta1'];
const strategies = ['None', 'Webhook'];

/** How objects get from one version to another: only the apiVersion changes, or a webhook is asked. */
export function validateConversion(conversion: Fields, at: FieldPath, established: boolean): FieldError[] {
  const strategy = asText(conversion['strategy']);
  const { clientConfig, conversionReviewVersions } = asFields(conversion['webhook']);
  const client = at.child('webhookClientConfig');
  const versions = at.child('conversionReviewVersions');
  if (strategy !== 'Webhook') {
    const message = 'should not be set when strategy is not set to Webhook';
    return [
      ...(strategy === '' ? required('', at.child('strategy')) : []),
      ...(strategy === '' || strategies.includes(strategy)
        ? []
        : [fieldError.notSupported(String(at.child('strategy')), strategy, strategies)]),
      ...(isSet(clientConfig) ? [fieldError.forbidden(String(client), message)] : []),
      ...(asTexts(conversionReviewVersions).length > 0 ? [fieldError.forbidden(String(versions), message)] : []),
    ];
  }
  return [
    ...(isSet(clientConfig)
      ? [
          ...validateWebhookClient(asFields(clientConfig), client),
          ...(established ? validateBundle(asText(asFields(clientConfig)['caBundle']), client.child('caBundle')) : []),
        ]
      : required(undefined, client, 'required when strategy is set to Webhook')),
    ...validateReviewVersions(asTexts(conversionReviewVersions), versions),
  ];
}

function validateReviewVersions(versions: readonly string[], at: FieldPath): FieldError[] {
  if (versions.length === 0) return required(undefined, at);
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const where = String(at.index(index));
    if (seen.has(version)) return [fieldError.invalid(where, version, 'duplicate version')];
    seen.add(version);
    return validateDns1035Label(version).map((problem) => fieldError.invalid(where, version, problem));
  });
  if (versions.some((version) => reviewVersions.includes(version))) return errors;
  const message = `must include at least one of ${reviewVersions.join(', ')}`;
  return [...errors, fieldError.invalid(String(at), versions, message)];
}

/** Tools fill bundles in later, so that one is only looked at when the kind is in use. */
function validateBundle(base64: string, at: FieldPath): FieldError[] {
  if (base64 === '') return [];
  try {
    new X509Certificate(Buffer.from(base64, 'base64'));
    return [];
  } catch {
    return [fieldError.invalid(String(at), base64, 'unable to load root certificates: it holds no certificate')];
  }
}
