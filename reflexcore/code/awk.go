package code

func (m *machine) awk(string) { m.over = true }
