import { asFields, asItems, asText, isSet, type Fields } from '../machinery/fields.js';
import type { JsonObject, KubeObject } from '../machinery/kube-object.js';
import { copyJson } from '../patch/copy-json.js';
import { viewOf } from './definition-view.js';

/**
 * Converts CustomResourceDefinitions between v1 and v1beta1, the version in which kube-apiserver stores them:
 *
 *   v1                                          v1beta1
 *   versions[].schema (and three more)          validation, if all versions have the same one
 *   versions[].additionalPrinterColumns[].jsonPath   …JSONPath
 *   conversion.webhook.clientConfig             conversion.webhookClientConfig
 *   preserveUnknownFields, true or absent       preserveUnknownFields, true or false; absent means true
 */
export function toStoredDefinition(apiVersion: string): (definition: KubeObject) => KubeObject {
  return (definition) => {
    const { kind, apiVersion: _served, metadata, ...rest } = definition;
    return { kind, apiVersion, metadata, ...rest, spec: toOldSpec(asFields(definition['spec'])) };
  };
}

export function fromStoredDefinition(stored: KubeObject): KubeObject {
  return { ...stored, spec: toNewSpec(asFields(stored['spec'])) };
}

function toOldSpec(spec: Fields): Fields {
  const { versions: _versions, conversion, preserveUnknownFields, ...rest } = spec;
  const { versions, common, version } = viewOf(spec);
  return compact({
    ...rest,
    version,
    validation: common.schema,
    subresources: common.subresources,
    versions: versions.map((each) =>
      compact({ ...each, additionalPrinterColumns: columns(each['additionalPrinterColumns'], 'jsonPath', 'JSONPath') }),
    ),
    additionalPrinterColumns: columns(common.additionalPrinterColumns, 'jsonPath', 'JSONPath'),
    selectableFields: common.selectableFields,
    conversion: isSet(conversion) ? toOldConversion(asFields(conversion)) : undefined,
    preserveUnknownFields: preserveUnknownFields === true,
  });
}

function toOldConversion({ strategy, webhook }: Fields): Fields {
  const { clientConfig, conversionReviewVersions } = asFields(webhook);
  return compact({ strategy, webhookClientConfig: clientConfig, conversionReviewVersions });
}

function toNewSpec(spec: Fields): Fields {
  const {
    version,
    validation,
    subresources,
    versions: _versions,
    additionalPrinterColumns,
    selectableFields,
    conversion,
    preserveUnknownFields,
    ...rest
  } = spec;
  const listed = asItems(spec['versions']);
  const versions = listed.length > 0 ? listed : [{ name: asText(version), served: true, storage: true }];
  const common = compact({ schema: validation, subresources, additionalPrinterColumns, selectableFields });
  return compact({
    ...rest,
    scope: asText(rest['scope']) || 'Namespaced',
    versions: versions.map((each: Fields, index) => {
      // Copied for all versions but the first: strategies change versions in place.
      const own = index === 0 ? common : asFields(copyJson(common as JsonObject));
      const whole: Fields = { ...each, ...own };
      const shown = columns(whole['additionalPrinterColumns'], 'JSONPath', 'jsonPath');
      return compact({ ...whole, additionalPrinterColumns: shown });
    }),
    conversion: isSet(conversion) ? toNewConversion(asFields(conversion)) : undefined,
    // v1beta1 defaults preserveUnknownFields to true, so absent means true in a stored object.
    preserveUnknownFields: preserveUnknownFields === false ? undefined : true,
  });
}

function toNewConversion({ strategy, webhookClientConfig, conversionReviewVersions }: Fields): Fields {
  const isWebhook = strategy === 'Webhook';
  const reviewed = conversionReviewVersions ?? (isWebhook ? ['v1beta1'] : undefined);
  if (!isSet(webhookClientConfig) && !isSet(reviewed)) return compact({ strategy });
  return compact({
    strategy,
    webhook: compact({ clientConfig: webhookClientConfig, conversionReviewVersions: reviewed }),
  });
}

function columns(given: unknown, from: string, to: string): unknown {
  if (!isSet(given)) return undefined;
  return asItems(given).map(({ [from]: path, ...column }) => compact({ ...column, [to]: path }));
}

function compact(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
