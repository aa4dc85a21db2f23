type Column = string | { amount: string }

/** The names of the columns, amounts at their ends; what can be done to a row comes last, and is named to who does not see it. */
export const TableHead = ({ columns, hasActions = false }: { columns: readonly Column[]; hasActions?: boolean }) => (
  <thead>
    <tr>
      {columns.map((column) =>
        typeof column === 'string' ? (
          <th key={column} scope="col">
            {column}
          </th>
        ) : (
          <th key={column.amount} scope="col" className="end">
            {column.amount}
          </th>
        ),
      )}
      {hasActions && (
        <th scope="col">
          <span className="visually-hidden">Actions</span>
        </th>
      )}
    </tr>
  </thead>
)
