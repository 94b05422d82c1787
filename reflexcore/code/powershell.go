package code

func (m *machine) powershell(string) { m.over = true }

func (m *machine) batch(string) { m.over = true }
