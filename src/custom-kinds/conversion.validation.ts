import { X509Certificate } from 'node:crypto';
import type { CustomResourceConversion } from '../catalog/types/apiextensions.v1.js';
import { pemBlocks } from '../certificates/pem-blocks.js';
import { fieldError, type FieldError, type FieldPath } from '../machinery/field-error.js';
import { checked, required } from '../machinery/field-rules.js';
import { validateDns1035Label } from '../machinery/names.js';
import { reviewVersions, validateWebhookClient } from '../machinery/webhook-client.validation.js';

const strategies = ['None', 'Webhook'];

/** Rules that an update need not meet: the definition already broke them before, or is not served yet. */
export interface ConversionLeniency {
  readonly brokenBundle: boolean;
  readonly unknownReviewVersions: boolean;
}

/** On create, caBundle is not validated: tools such as cert-manager's CA injector fill it in later. */
export const firstConversion: ConversionLeniency = { brokenBundle: true, unknownReviewVersions: false };

export function conversionLeniencyOf(old: CustomResourceConversion, isEstablished: boolean): ConversionLeniency {
  const versions = old.webhook?.conversionReviewVersions ?? [];
  return {
    brokenBundle: !isEstablished || hasBrokenBundle(old),
    unknownReviewVersions: versions.length > 0 && !versions.some((version) => reviewVersions.includes(version)),
  };
}

/** True if caBundle is set and is not a valid PEM bundle, so that the webhook's certificate could not be verified. */
export function hasBrokenBundle({ webhook }: CustomResourceConversion): boolean {
  return bundleProblems(webhook?.clientConfig?.caBundle ?? '').length > 0;
}

/** Validates `spec.conversion`: strategy None changes the apiVersion only, Webhook calls a webhook. */
export function validateConversion(
  { strategy = '', webhook = {} }: CustomResourceConversion,
  at: FieldPath,
  leniency: ConversionLeniency,
): FieldError[] {
  const { clientConfig } = webhook;
  const versions = webhook.conversionReviewVersions ?? [];
  const clientAt = at.child('webhookClientConfig');
  const versionsAt = at.child('conversionReviewVersions');
  if (strategy !== 'Webhook') {
    const message = 'should not be set when strategy is not set to Webhook';
    return [
      ...(strategy === '' ? required('', at.child('strategy')) : []),
      ...(strategy === '' || strategies.includes(strategy)
        ? []
        : [fieldError.notSupported(at.child('strategy'), strategy, strategies)]),
      ...(clientConfig ? [fieldError.forbidden(clientAt, message)] : []),
      ...(versions.length > 0 ? [fieldError.forbidden(versionsAt, message)] : []),
    ];
  }
  return [
    ...(clientConfig
      ? [
          ...validateWebhookClient(clientConfig, clientAt),
          ...(leniency.brokenBundle
            ? []
            : checked(clientConfig.caBundle ?? '', clientAt.child('caBundle'), bundleProblems)),
        ]
      : required(undefined, clientAt, 'required when strategy is set to Webhook')),
    ...validateReviewVersions(versions, versionsAt, leniency.unknownReviewVersions),
  ];
}

function validateReviewVersions(versions: readonly string[], at: FieldPath, anyIsFine: boolean): FieldError[] {
  if (versions.length === 0) return required(undefined, at);
  const seen = new Set<string>();
  const errors = versions.flatMap((version, index) => {
    const versionAt = at.index(index);
    if (seen.has(version)) return [fieldError.invalid(versionAt, version, 'duplicate version')];
    seen.add(version);
    return validateDns1035Label(version).map((problem) => fieldError.invalid(versionAt, version, problem));
  });
  if (anyIsFine || versions.some((version) => reviewVersions.includes(version))) return errors;
  const message = `must include at least one of ${reviewVersions.join(', ')}`;
  return [...errors, fieldError.invalid(at, versions, message)];
}

/** A larger bundle counts as broken, since parsing a certificate takes 0.1 ms. Public bundles have about 150. */
const certificatesMax = 500;

/** Requires one or more certificates in PEM. Blocks of other types and with headers are ignored, as by Go's TLS library. */
function bundleProblems(base64: string): string[] {
  if (base64 === '') return [];
  const certificates = pemBlocks(Buffer.from(base64, 'base64').toString('latin1')).filter(
    ({ type, hasHeaders }) => type === 'CERTIFICATE' && !hasHeaders,
  );
  if (certificates.length === 0) return ['unable to load root certificates: it holds no certificate in PEM'];
  if (certificates.length > certificatesMax) {
    return [`unable to load root certificates: it holds more than ${certificatesMax} certificates`];
  }
  try {
    for (const { bytes } of certificates) new X509Certificate(bytes);
    return [];
  } catch {
    return ['unable to load root certificates: it holds a malformed certificate'];
  }
}
