import { ageCell, ageColumn, asFields, asNumber, asText, nameColumn, type TableDefinition } from 'keelson';

/** The columns of `kubectl get widgets`; shine only with `-o wide`. */
export const widgetTable: TableDefinition = {
  columns: [
    nameColumn,
    { name: 'Color', type: 'string', description: 'The color that it keeps.' },
    { name: 'Size', type: 'string', description: 'small, medium or large.' },
    { name: 'Shine', type: 'integer', description: 'How often it was polished.', priority: 1 },
    ageColumn,
  ],
  cells(widget, { nowMs }) {
    const spec = asFields(widget['spec']);
    return [
      widget.metadata.name ?? '',
      asText(spec['color']),
      asText(spec['size']),
      asNumber(asFields(widget['status'])['shine']),
      ageCell(widget.metadata.creationTimestamp, nowMs),
    ];
  },
};
