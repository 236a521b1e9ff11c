import {
  asFields,
  asText,
  defineResource,
  scaleSubresource,
  statusSubresource,
  type VirtualResourceDefinition,
} from 'keelson';
import { validateStatus, widgetStrategy } from './widget.strategy.js';
import { widgetTable } from './widget.table.js';

export const shopVersion = { group: 'shop.example.com', version: 'v1' };

/** The status subresource of widgets, written by clients and by polish. */
export const widgetStatus = statusSubresource({ validate: validateStatus });

export const widgets = defineResource({
  ...shopVersion,
  kind: 'Widget',
  plural: 'widgets',
  shortNames: ['wd'],
  categories: ['all'],
  namespaced: true,
  storagePrefix: `${shopVersion.group}/widgets`,
  strategy: widgetStrategy,
  table: widgetTable,
  selectableFields: { 'spec.color': (widget) => asText(asFields(widget['spec'])['color']) },
  subresources: {
    status: widgetStatus,
    scale: scaleSubresource({ specReplicas: ['spec', 'replicas'], statusReplicas: ['status', 'replicas'] }),
    polish: { type: 'handled', verbs: ['create'], kind: { ...shopVersion, kind: 'Polish' } },
  },
});

/** A virtual resource: a POST is answered with a computed object, which is not stored. */
export const quotes: VirtualResourceDefinition = {
  ...shopVersion,
  kind: 'Quote',
  plural: 'quotes',
  singular: 'quote',
  namespaced: true,
};
