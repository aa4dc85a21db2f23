import { Link } from '../address.tsx'
import { NewButton } from '../new-button.tsx'
import { useMay } from '../permission.tsx'
import { RecordPage } from '../record-page/record-page.tsx'

export const Page = () => {
  const mayEdit = useMay('accounts:write')
  return (
    <RecordPage
      name="accounts"
      actions={({ accountId }) => (
        <>
          {mayEdit && (
            <Link to="/accounts/$id/edit" id={String(accountId)} className="button primary">
              Edit
            </Link>
          )}
          <NewButton what="contact" parameters={{ accountId: String(accountId) }} />
        </>
      )}
    />
  )
}
