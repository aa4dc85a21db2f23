import '../admin/administration.css'
import '../design/form.css'
import '../imports/imports.css'
import { useNavigate } from '@tanstack/react-router'
import { Link } from '../address.tsx'
import { PageHead } from '../design/page-head.tsx'
import { ChooseFile } from '../imports/choose-file.tsx'
import { Steps } from '../imports/steps.tsx'
import { Templates } from '../imports/templates.tsx'
import { Permitted } from '../permission.tsx'

const title = 'Import a file'

export const Page = () => (
  <Permitted title={title} scope="imports:manage">
    <NewImport />
  </Permitted>
)

const NewImport = () => {
  const navigate = useNavigate()
  return (
    <div className="page">
      <PageHead title={title} crumbs={<Link to="/admin/imports">Imports</Link>}>
        You see what it would do before anything is written.
      </PageHead>
      <Steps at="File" />
      <ChooseFile onSent={(id) => navigate({ to: '/admin/imports/$id', params: { id } })} />
      <Templates />
    </div>
  )
}
